"""Which form of a kernel a launch takes, and the numbers that it computes for it."""
