"""Launch every cuTile kernel on the local GPU and compare with numpy.

    python tests/hardware/launch_cutile.py [MODULE ...]

Needs a GPU of Hopper or Blackwell, `pip install 'tileas-xdsl[cutile,gpu]'`.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from kernels.cutile import problems
from tileas_xdsl.runtime.gpu.device import gpu
from tileas_xdsl.runtime.kernel_launcher import CopiedArrayWarning, target_of


def main(modules: list[str]) -> int:
    warnings.simplefilter("ignore", CopiedArrayWarning)
    device, failures = gpu(), 0
    target = target_of(device)
    for problem in problems(*modules):
        if target not in problem.targets:
            continue
        try:
            kernel = problem.compiled(target)
            for seed in range(3):
                before = problem.arguments(seed)
                after = problem.arguments(seed)
                kernel.launch(*after, grid=problem.grid)
                found = problem.check(before, after)
                verdict = "right" if found.is_right else "WRONG"
                failures += not found.is_right
                print(f"{problem}, seed {seed}: {verdict}, {100 * found.share:.0f} % of its bound")
        except Exception as error:
            failures += 1
            print(f"{problem}: {type(error).__name__}: {error}")
    print(f"{device.name}: {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
