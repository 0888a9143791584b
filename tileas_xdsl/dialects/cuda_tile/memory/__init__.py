"""Accesses through pointers and views."""
