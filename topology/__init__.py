"""Where it is interesting: the scout, pure and deterministic."""
