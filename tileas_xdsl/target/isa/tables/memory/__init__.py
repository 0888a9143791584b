"""Rows of instructions on memory (PTX ISA 9.7.9 and 9.7.13): accesses, copies, multimem."""
