"""Memory that records its accesses, views of it, pointers, and globals of a module."""
