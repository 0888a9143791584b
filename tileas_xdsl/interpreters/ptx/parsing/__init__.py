"""PTX text to a syntax tree: lexer, declarations, operands, statements.  Source: PTX ISA 4, 5."""
