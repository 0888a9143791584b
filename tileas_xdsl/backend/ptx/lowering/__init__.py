"""How each family of operations of a thread block becomes PTX, one file a family."""
