"""The modules of model_selection."""
