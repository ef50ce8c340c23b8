"""What is known: the vocabulary, the ledger, the doors to both databases."""
