"""`.approx` instructions on f32, bit for bit as the multi-function unit (MUFU) of an H200."""
