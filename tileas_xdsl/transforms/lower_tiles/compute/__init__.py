"""Handlers of arithmetic, matrix products, reductions and shape changes of tiles in registers."""
