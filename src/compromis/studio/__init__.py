"""The studio: a local web app to load votes, say what matters, tune, compare and save."""
