"""From bytes to a module."""
