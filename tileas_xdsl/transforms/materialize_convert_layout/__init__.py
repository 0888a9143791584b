"""How surviving layout conversions are carried out, and the operations that do it."""
