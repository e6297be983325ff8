"""A decision elsewhere: SQL, ONNX; `Decision.to_sql` and `Decision.to_onnx` call it."""
