"""cuTile programs on this compiler: `ct.launch` compiles and runs here, with or without a GPU.

import tileas_xdsl.cutile

tileas_xdsl.cutile.install()

Everything else of the program stays as it is.  Kernels whose arrays are of numpy, or tensors of
torch on the CPU, run on the emulator, with or without a GPU.
"""

from __future__ import annotations

from tileas_xdsl.runtime.cutile.custom_ops import custom_op
from tileas_xdsl.runtime.cutile.dispatch import launch
from tileas_xdsl.runtime.cutile.hooks import install, installed, uninstall
from tileas_xdsl.runtime.cutile.settings import FindingsWarning, HostArraysWarning, Settings

__all__ = [
    "FindingsWarning",
    "HostArraysWarning",
    "Settings",
    "custom_op",
    "install",
    "installed",
    "launch",
    "uninstall",
]
