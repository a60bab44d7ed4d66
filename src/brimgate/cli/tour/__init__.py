"""What the tour of `brimgate demo` is made of."""
