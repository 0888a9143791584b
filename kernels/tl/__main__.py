"""`python -m kernels.tl` lists the block programs; `NAME [PARAMETER=VALUE ...]` prints one."""

from __future__ import annotations

import sys

from kernels.__main__ import main
from kernels.tl import KERNELS
from tileas_xdsl.tools.failures import ends_with_its_reader

if __name__ == "__main__":
    with ends_with_its_reader():
        code = main(sys.argv[1:], KERNELS, "python -m kernels.tl")
    sys.exit(code)
