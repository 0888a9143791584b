"""Instructions of one thread on registers: arithmetic, bits, comparisons, conversions, moves."""
