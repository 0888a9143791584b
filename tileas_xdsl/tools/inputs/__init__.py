"""What the command line gives: kernels, arguments, grids, launches, options."""
