from .mlflow import log_to_mlflow
from .skore import add_to_skore, skore_metrics

__all__ = [
    "add_to_skore",
    "log_to_mlflow",
    "skore_metrics",
]
