"""Layout conversions, reshapes, allocations and slices of tiles."""
