"""Copies by atoms, TMA and tensor memory."""
