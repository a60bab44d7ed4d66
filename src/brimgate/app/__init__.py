"""Builds the running thing out of its parts: the only place, beside the commands, that wires rooms together."""
