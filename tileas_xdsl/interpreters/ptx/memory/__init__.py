"""State spaces: global, shared and tensor memory, generic addresses, addresses of variables."""
