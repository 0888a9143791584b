"""Instructions on one register or on tuples of them, element by element."""
