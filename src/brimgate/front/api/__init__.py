"""Serve the REST API behind us as REST again: the same operations, under our own address and within the budget."""
