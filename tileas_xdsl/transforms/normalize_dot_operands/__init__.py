"""Parts of `tileas-normalize-dot-operands`: permutations of tiles, and operands that have them."""
