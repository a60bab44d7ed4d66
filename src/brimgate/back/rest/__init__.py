"""REST APIs as upstreams: tools declared in a file, each run as requests of one API."""
