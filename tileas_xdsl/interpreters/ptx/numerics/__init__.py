"""PTX scalar types, float formats as bits, directed rounding, reductions in memory."""
