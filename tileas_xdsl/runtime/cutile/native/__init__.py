"""An optional accelerator in C: known launches are made again without Python."""
