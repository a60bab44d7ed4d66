"""What is written in place of an answer that does not fit."""
