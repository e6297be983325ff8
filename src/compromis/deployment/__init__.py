"""Decisions as SQL and as ONNX; `Decision.to_sql` and `Decision.to_onnx` call it."""
