"""The promises of docs/reliability.md, each a module that counts: ``python -m tests.stress``."""
