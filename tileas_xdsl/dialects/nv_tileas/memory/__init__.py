"""Memory operations: tiled and element accesses, copies, atomics, and their verifiers."""
