"""One file per question asked of the graph."""
