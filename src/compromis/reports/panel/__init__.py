"""The interactive panel of preferences: a JSON document, and the script that shows it."""
