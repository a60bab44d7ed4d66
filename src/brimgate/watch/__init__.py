"""What we tell about ourselves."""
