"""Operations on whole tiles: constants, arithmetic, products, reductions, shapes."""
