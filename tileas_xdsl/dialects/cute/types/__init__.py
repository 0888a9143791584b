"""Types of `cute`: pointers, layouts, tuples, views, tiled atoms, integers with a known divisor."""
