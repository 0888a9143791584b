"""What `tileas simulate --predict` says of the time of a launch on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tileas_xdsl.tuning.prediction.launch_time import Predicted


def prediction_facts(found: Predicted | None) -> Sequence[tuple[str, str]]:
    """Return the facts of a prediction, which is of programs over tiles before these are laid out.

    Names and texts, as `print_facts` prints them.
    """
    if found is None:
        return [("predicted", "only before tiles are laid out")]
    exact = "" if found.is_exact else ", a loop of unknown length counted as one iteration"
    return [
        ("predicted", f"{found.microseconds:.4g} us{exact}"),
        ("bound by", found.bound),
        ("waves", f"{found.waves}, {found.together} blocks on a multiprocessor"),
    ]
