"""Functions in f64."""
