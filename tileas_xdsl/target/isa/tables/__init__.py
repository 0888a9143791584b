"""The rows of the instruction table, one file a family."""
