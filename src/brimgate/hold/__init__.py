"""The engine with a memory: which answers it holds, under which keys, in which store."""
