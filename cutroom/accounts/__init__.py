"""Accounts: users, libraries, members, plans, scopes, API keys, sessions and OAuth."""
