"""Types of tiles, pointers and views, their scalars and literals, and what is known of values."""
