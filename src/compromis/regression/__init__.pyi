from .evaluation import RegressionEvaluation, evaluate

__all__ = [
    "RegressionEvaluation",
    "evaluate",
]
