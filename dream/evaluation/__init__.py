"""Evaluation on real history: dream at T, then see what later turns link."""
