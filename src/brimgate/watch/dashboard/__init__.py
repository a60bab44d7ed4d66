"""The dashboard: pages that are made here from records, and are the same for `serve` and `brimgate dashboard`."""
