"""Integer tiles that are functions of the thread: constant tables and `generate` bodies."""
