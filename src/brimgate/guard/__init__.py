"""Who may connect, and with what."""
