"""Operations of the layout algebra: tuples, layouts, divides, products, sizes, coordinates."""
