"""Weights of votes: one problem, one result, the methods between them, and the decision they make."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
