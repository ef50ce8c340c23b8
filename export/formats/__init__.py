"""One file per export format; each has NAME, SUFFIX and write(view, out)."""
