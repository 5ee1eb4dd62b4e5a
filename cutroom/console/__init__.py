"""The web app: pages for people, made on the server from the same operations as the API."""
