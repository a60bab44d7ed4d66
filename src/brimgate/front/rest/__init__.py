"""Keep REST answers within their budget: JSON in, bounded JSON out, and the rest one request away."""
