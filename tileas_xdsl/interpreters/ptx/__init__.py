"""An emulator of PTX text that judges it: races, proxies, barriers, deadlocks.

`load` reads anyone's PTX, `run` executes a kernel of it on arrays of numpy.  It knows nothing of
the code that emits PTX in this project.
"""

from tileas_xdsl.interpreters.ptx.arguments import LateArg, TensorMapArg
from tileas_xdsl.interpreters.ptx.checking.findings import KINDS, Finding, FindingsError
from tileas_xdsl.interpreters.ptx.errors import LaunchError, PtxError
from tileas_xdsl.interpreters.ptx.launch import Report, load, run
from tileas_xdsl.interpreters.ptx.parsing.syntax import PtxModule

__all__ = [
    "KINDS",
    "Finding",
    "FindingsError",
    "LateArg",
    "LaunchError",
    "PtxError",
    "PtxModule",
    "Report",
    "TensorMapArg",
    "load",
    "run",
]
