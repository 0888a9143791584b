"""The errors of the expansions of `math` on many arguments.

    python benchmarks/math_accuracy.py [NAME ...] [--size 100000] [--seed 1]

Prints, for each function of f32, the largest distance from the correctly rounded result, in units
of the last place, and an argument that has it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.support.math_expansions import EXPANSIONS, arguments, distance, evaluated, reference
from tileas_xdsl.target.math_functions import MATH_FUNCTIONS


def main() -> int:
    """Measure the functions that are named, or all; 1 if one is past its bound."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("names", nargs="*", default=sorted(EXPANSIONS))
    parser.add_argument("--size", type=int, default=100_000, help="of each kind of argument")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    failed = False
    for name in options.names:
        rng = np.random.default_rng(options.seed)
        arrays = arguments(name, rng, options.size)
        apart = distance(evaluated(name, *arrays), reference(name, *arrays))
        worst, bound = int(np.argmax(apart)), MATH_FUNCTIONS[name].bound
        failed |= int(apart[worst]) > bound
        at = ", ".join(repr(array[worst].item()) for array in arrays)
        print(f"{name:6} {apart[worst]:3} of {bound} at {at}  ({arrays[0].size} arguments)")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
