"""Stand-ins for real systems, which `--sandbox`, `demo` and `measure` run."""
