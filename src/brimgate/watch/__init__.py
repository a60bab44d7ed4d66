"""What Brimgate reports about itself: the log."""
