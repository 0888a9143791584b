"""Accesses through pointers and through views, their order and hints."""
