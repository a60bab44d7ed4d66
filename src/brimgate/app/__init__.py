"""Build a running gateway from its parts. Besides the commands, only this package wires rooms together."""
