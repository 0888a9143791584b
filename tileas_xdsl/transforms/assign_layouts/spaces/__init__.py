"""Memory spaces of tiles, and the conversions that no choice can avoid."""
