"""Arrays behind pointers, tiles of them, globals, and the tokens that order accesses."""
