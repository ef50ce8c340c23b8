"""``python -m cli`` is ``clew``."""

from cli.main import main

main()
