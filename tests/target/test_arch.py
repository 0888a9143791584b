"""Targets by name."""

import subprocess
import sys

import pytest

from tileas_xdsl.target.arch import TARGETS, get_target, platform_of
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.isa.tables.matrix.tensor_cores import TENSOR_KINDS
from tileas_xdsl.target.mma.canonical import MODES


def test_known_targets():
    hopper, blackwell = get_target("sm_90a"), get_target("sm_100a")
    assert (hopper.ptx_version, blackwell.ptx_version) == ((8, 0), (8, 6))
    assert hopper.tensor_memory_lanes == 0
    assert blackwell.tensor_memory_lanes * blackwell.tensor_memory_columns * 4 == 256 << 10
    sizes = {name: t.shared_memory_per_block >> 10 for name, t in TARGETS.items()}
    assert sizes == {"sm_90a": 227, "sm_100a": 227, "sm_120a": 99}


def test_modes_of_descriptors_are_known():
    assert all(set(t.matrix_unit.layout_types) <= set(MODES) for t in TARGETS.values())


@pytest.mark.parametrize(
    ("name", "has"),
    [
        ("sm_100a", True),
        ("sm_110a", True),
        ("sm_103a", False),
        ("sm_100f", False),
        ("sm_90a", False),
    ],
)
def test_products_of_bytes_in_tensor_memory_are_of_single_chips(name, has):
    """As ptxas 13.5 takes `.kind::i8`; those of f16 are of whole families."""
    platform = platform_of(name)
    assert TENSOR_KINDS["i8"].needs.met_by(platform) == has
    assert TENSOR_KINDS["f16"].needs.met_by(platform) == (name != "sm_90a")


def test_unknown_target():
    for name in ("sm90", "SM_90b", "90"):
        with pytest.raises(TargetError, match=r"; did you mean sm_90a\?"):
            get_target(name)
    with pytest.raises(TargetError, match="unknown target 'sm_80'; known: sm_90a, sm_100a, sm_1"):
        get_target("sm_80")


def test_importing_the_package_loads_nothing():
    script = "import sys, tileas_xdsl.target; print([m for m in sys.modules if 'target.' in m])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
