"""TMA operations, descriptors and the attributes of tensor maps."""
