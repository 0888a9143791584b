"""Numbers of tiles as numpy arrays: element types, rounding, arithmetic, conversions."""
