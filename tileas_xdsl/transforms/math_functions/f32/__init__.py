"""Functions in f32."""
