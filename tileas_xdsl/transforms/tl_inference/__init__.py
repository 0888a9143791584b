"""Between the IR of `tl` and the model that inference works on, both ways."""
