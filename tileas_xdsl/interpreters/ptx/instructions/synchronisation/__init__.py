"""Barriers, fences, mbarriers, and instructions between the threads of a warp."""
