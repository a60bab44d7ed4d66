"""What we talk to: the servers behind us."""
