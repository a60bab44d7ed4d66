"""What the tour of `headgate demo` is made of."""
