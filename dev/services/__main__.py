"""Runs `python -m dev.services start|stop|status`."""

import sys

from dev.services.control import main

if __name__ == "__main__":
    sys.exit(main())
