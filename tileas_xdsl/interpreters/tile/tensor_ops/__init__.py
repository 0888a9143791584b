"""Pure operations on scalars and tiles: element-wise, dot, reduction, reshaping."""
