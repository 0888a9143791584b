"""Implementation of `tileas-divide-sums`: loops that only add up, and the parts of their sums."""
