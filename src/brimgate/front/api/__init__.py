"""A REST API behind us, served as REST again: the same operations, under our own roof and within the budget."""
