"""Rows of instructions on numbers in registers (PTX ISA 9.7.1 to 9.7.8)."""
