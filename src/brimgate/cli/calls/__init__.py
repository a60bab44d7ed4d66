"""The parts of `call`, `tools` and `measure`: the arguments, the conversation, the answer."""
