"""Every option declared once: file, environment, command line, docs and checks derive from the declarations."""
