"""Class shares that move: what they are now, what that does to a decision, and what to do."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
