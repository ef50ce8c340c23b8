"""What might be true: hypotheses from seeds, detached and checked."""
