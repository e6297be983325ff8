"""All compiled code: functions of arrays and scalars, each with a plain twin in tests/naive.py."""
