"""What a traced program calls: tile operations, reducers, im2col, fast mathematics."""
