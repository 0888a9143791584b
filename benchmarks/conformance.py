"""Run a public test suite through the drop-in, and rank the reasons of what does not pass.

    python benchmarks/conformance.py SUITE [--on gpu|emulator|assembler] [--sample N] [--only TEXT]... [--again OLD.json]
        [-j N] [--executor NAME [--parts N]] [--test-limit SECONDS] [--time-limit SECONDS] [--json FILE] [--compare OLD.json]

SUITE is a checkout of NVIDIA/cutile-python (its test/ and samples/) or NVIDIA/TileGym (its
tests/ops/ and tests/suites/).  Needs cuda-tile, torch and pytest; neither the closed assembler nor,
on the emulator, a GPU.  With `--on assembler` nothing is installed: cuTile compiles and launches as
it is, and finds `tileas-as` as its assembler (a GPU and ptxas are needed; a process of Python for
each compilation).  Each test counts as one of: passed by launches of ours, passed without any
launch, failed, refused (our compiler said what it does not support), skipped, private (it did not
pass, and looks at the inside of the original).  With `--executor dask://HOST:PORT` a cluster of
machines that have the checkout at the same path runs parts of the suite.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.conformance.command import main
from benchmarks.running import end

if __name__ == "__main__":
    end(lambda: main(__doc__))
