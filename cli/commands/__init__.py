"""One short file per group of commands."""
