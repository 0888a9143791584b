"""What `xdsl-opt` and every other xDSL tool see of this package: its `xdsl.universe` entry point.

Factories are lazy: importing this module imports no dialect, no pass and no target, so that tools
start quickly.  Keys equal the `name` of what their factory returns; a test checks it.
"""

from xdsl.passes import ModulePass
from xdsl.universe import Universe


def _verify_dominance() -> type[ModulePass]:
    from tileas_xdsl.transforms.verify_dominance import VerifyDominance

    return VerifyDominance


TILEAS_UNIVERSE = Universe(
    all_dialects={},
    all_passes={
        "verify-dominance": _verify_dominance,
    },
    all_targets={},
)
"""An open compiler for GPU tile kernels on xDSL."""
