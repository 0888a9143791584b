"""An emulator of PTX text that checks it for races, proxy fences, barriers and deadlocks.

`load` parses PTX of any compiler, `run` executes a kernel of it on numpy arrays.  It is independent
of the code of this project that emits PTX, since it judges that code.
"""

from tileas_xdsl.interpreters.ptx.arguments import AddressTableArg, LateArg, TensorMapArg
from tileas_xdsl.interpreters.ptx.checking.reports.findings import (
    KINDS,
    Finding,
    FindingKind,
    FindingsError,
    Severity,
)
from tileas_xdsl.interpreters.ptx.errors import LaunchError, PtxError
from tileas_xdsl.interpreters.ptx.launch import Report, load, run
from tileas_xdsl.interpreters.ptx.memory.variable_addresses import SharedName
from tileas_xdsl.interpreters.ptx.parsing.syntax import PtxModule

__all__ = [
    "KINDS",
    "AddressTableArg",
    "Finding",
    "FindingKind",
    "FindingsError",
    "LateArg",
    "LaunchError",
    "PtxError",
    "PtxModule",
    "Report",
    "Severity",
    "SharedName",
    "TensorMapArg",
    "load",
    "run",
]
