"""Decisions where the predictions are made: JSON, plain numpy, SQL, ONNX."""

from compromis.deployment.decision import Decision

__all__ = ["Decision"]
