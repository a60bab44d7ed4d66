"""What `call`, `tools` and `measure` are made of: the words, the conversation, the answer."""
