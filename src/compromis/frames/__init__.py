"""Files and data frames of any engine: scan, count, decide, search."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
