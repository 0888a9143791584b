"""Layouts and instructions that each operation could work with, and what they cost."""
