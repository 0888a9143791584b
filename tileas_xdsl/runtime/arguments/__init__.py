"""Arguments of launches: arrays of the host, what they are for a kernel, and back."""
