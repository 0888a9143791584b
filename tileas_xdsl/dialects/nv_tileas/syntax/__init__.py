"""Assembly format: directives, sugar for types and operations."""
