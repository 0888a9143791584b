"""A GPU through the CUDA driver: devices, modules, memory, arrays, graphs and timing."""
