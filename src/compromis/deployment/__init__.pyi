from .onnx import decision_model
from .sql import case_expression

__all__ = [
    "case_expression",
    "decision_model",
]
