"""How types and operations are written."""
