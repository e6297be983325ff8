from .onnx import to_onnx
from .sql import to_sql

__all__ = [
    "to_onnx",
    "to_sql",
]
