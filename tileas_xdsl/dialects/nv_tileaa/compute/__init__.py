"""Products, reductions, scans, conversions, and tiles made of tiles."""
