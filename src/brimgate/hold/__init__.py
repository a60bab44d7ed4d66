"""The engine with a memory: what it holds back, under which keys, in which store."""
