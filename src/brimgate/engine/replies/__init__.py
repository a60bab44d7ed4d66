"""The replies that replace an answer that does not fit."""
