"""The asynchronous proxy: boxes of tensor maps, bulk groups, tensor maps that a kernel modifies."""
