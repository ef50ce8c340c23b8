"""What one thread yields: one file per thing found."""
