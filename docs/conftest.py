"""What the documentation build makes, and needs Sphinx for, is no test."""

collect_ignore_glob = ["_build/*", "gallery/*", "reference/*", "conf.py"]
