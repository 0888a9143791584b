"""Barriers, mbarriers, fences, and instructions between the threads of a warp."""
