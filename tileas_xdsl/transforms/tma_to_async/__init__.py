"""Implementation of `lower-tma-load-store-to-async`, one module a phase."""
