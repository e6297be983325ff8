"""A module that a spoiled model names; nothing may ever import it."""


class Mark:
    """What it names there."""
