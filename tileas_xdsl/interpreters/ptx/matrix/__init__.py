"""Operands and accumulators of wgmma and tcgen05: shared memory, registers, tensor memory."""
