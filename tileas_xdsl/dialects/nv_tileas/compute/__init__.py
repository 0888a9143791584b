"""Matrix products, reductions and scans of tiles."""
