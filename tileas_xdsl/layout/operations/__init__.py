"""Operations on layouts: composition, inverses, complements, divides, products, recovery."""
