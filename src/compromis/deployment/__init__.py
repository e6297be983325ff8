"""Decisions where the predictions are made: JSON, plain numpy, SQL, ONNX."""

from compromis.weights.decision import Decision

__all__ = ["Decision"]
