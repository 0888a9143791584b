"""What a loop needs and has: units, buffers, registers, capacity of a multiprocessor."""
