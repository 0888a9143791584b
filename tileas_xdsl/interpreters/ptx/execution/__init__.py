"""Programs of steps, convergence groups and their scheduler, clusters and their state."""
