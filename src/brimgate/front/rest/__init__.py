"""REST answers within their budget: JSON in, bounded JSON out, and what was held back one request away."""
