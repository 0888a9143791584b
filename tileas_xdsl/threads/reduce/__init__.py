"""Reductions and scans: in a thread, across lanes by shuffles, across warps by shared memory."""
