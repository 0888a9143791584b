"""Values: ranges, strides, uniformity, liveness, loop-carried values."""
