"""What several threads yield: one file per thing that joins them."""
