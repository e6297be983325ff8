"""The modules of integrations."""
