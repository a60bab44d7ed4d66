"""How many tokens a text costs, per model family."""
