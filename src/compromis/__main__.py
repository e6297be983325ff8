"""``python -m compromis``."""

from compromis.cli import main

if __name__ == "__main__":
    main()
