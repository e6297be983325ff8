"""Decisions as SQL and as ONNX; `Decision.to_sql` and `Decision.to_onnx` call it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
