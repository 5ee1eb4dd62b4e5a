"""Who calls: users, libraries, members, plans, scopes, keys and principals."""
