"""`python -m kernels.cutile [MODULE ...]`: every kernel compiled, assembled and run, as a table.

It fails where a kernel is refused, spills, or is not what numpy computes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from kernels.cutile import problems
from kernels.cutile.table import print_rows
from tileas_xdsl.tools.failures import ends_with_its_reader


def main(modules: Sequence[str]) -> int:
    """Print the table; 1 where a row is not right, 2 for names that are none."""
    try:
        chosen = list(problems(*modules))
    except KeyError as error:
        sys.stderr.write(f"python -m kernels.cutile: {error.args[0]}\n")
        return 2
    except ModuleNotFoundError as error:
        sys.stderr.write(f"python -m kernels.cutile: {error}; install 'tileas-xdsl[cutile]'\n")
        return 2
    rights = [found.is_right for found in print_rows(chosen)]
    sys.stderr.write(f"{sum(rights)} of {len(rights)} are right\n")
    return 0 if all(rights) else 1


if __name__ == "__main__":
    with ends_with_its_reader():
        code = main(sys.argv[1:])
    sys.exit(code)
