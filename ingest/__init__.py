"""What was said: transcript files to clean threads, threads to facts."""
