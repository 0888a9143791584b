"""The modifiers of conversions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.instructions.base import (
    Site,
)

INTEGER_ROUNDING: Mapping[str, Callable[[Array], Array]] = {
    "rni": np.rint,
    "rzi": np.trunc,
    "rmi": np.floor,
    "rpi": np.ceil,
}


FLOAT_ROUNDING = ("rn", "rna", "rz", "rm", "rp")


@dataclass(frozen=True, slots=True)
class Conversion:
    """The modifiers of a conversion."""

    rounding: str
    ftz: bool
    saturate: bool
    finite: bool
    relu: bool


def modifiers_of(site: Site) -> Conversion:
    """Read rounding, `.ftz`, `.sat`, `.satfinite` and `.relu` off an instruction."""
    ftz, saturate, finite = site.flag("ftz"), site.flag("sat"), site.flag("satfinite")
    relu = site.flag("relu")
    rounding = site.choose((*INTEGER_ROUNDING, *FLOAT_ROUNDING), "")
    return Conversion(rounding, ftz, saturate, finite, relu)
