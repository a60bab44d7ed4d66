"""What clients talk to."""
