"""What can be seen: exports, the explorer page, the report."""
