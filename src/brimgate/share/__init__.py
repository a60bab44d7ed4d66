"""What the replicas of one gateway share, in Redis or Valkey."""
