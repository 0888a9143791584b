"""What a launch is given or can compute of a kernel: parameters, arrays, scalars, loops."""
