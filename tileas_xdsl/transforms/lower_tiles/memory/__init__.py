"""Handlers of accesses of global, shared and tensor memory."""
