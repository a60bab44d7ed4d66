"""What was saved: on one answer, over many, as a table and as a picture."""
