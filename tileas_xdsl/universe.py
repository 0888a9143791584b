"""What `xdsl-opt` and every other xDSL tool see of this package, through the `xdsl.universe` entry point.

Factories are lazy: importing this module imports no dialect, no pass and no target, so that tools
start quickly.  Keys equal the `name` of what their factory returns; a test checks it.
"""

from xdsl.universe import Universe

TILEAS_UNIVERSE = Universe(all_dialects={}, all_passes={}, all_targets={})
