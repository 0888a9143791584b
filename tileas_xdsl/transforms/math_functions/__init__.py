"""Functions of `math` as sequences of `arith`: one idea a file."""
