"""The protocol itself: messages, versions, headers, ids, and both ends of a conversation."""
