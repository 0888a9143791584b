"""Tensor memory of sm_100: allocation, copies, scales, barriers of accumulators."""
