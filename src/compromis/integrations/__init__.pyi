from .mlflow import log_to_mlflow, skops_trusted_types
from .skore import add_to_skore, skore_metrics

__all__ = [
    "add_to_skore",
    "log_to_mlflow",
    "skops_trusted_types",
    "skore_metrics",
]
