"""Layout algebra in plain Python and numpy."""
