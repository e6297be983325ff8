"""The trade-off space: what is best for which recall weight, who is best where, and its siblings in ROC space."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
