"""What a PTX text says of a kernel, and what ptxas makes of it; no IR is needed."""
