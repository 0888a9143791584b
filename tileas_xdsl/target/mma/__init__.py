"""Matrix instructions of tensor cores: kinds, fragments, operand descriptors, scale factors."""
