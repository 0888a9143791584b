"""Data classes from plain data: what is stored says the same again."""

import json
from dataclasses import asdict

import pytest

from tileas_xdsl.target.kernel_abi import Extents, KernelAbi, Passed, TensorMapRecipe
from tileas_xdsl.target.launches.divided_sums import DividedSums, SummedLoad
from tileas_xdsl.target.launches.few_tile_blocks import FewTileBlocks
from tileas_xdsl.target.launches.launch_loops import LaunchLoop
from tileas_xdsl.target.launches.persistent_launches import PersistentLaunches
from tileas_xdsl.target.launches.shared_loads import LoopLoad, SharedLoads
from tileas_xdsl.target.launches.uneven_waves import UnevenWaves
from tileas_xdsl.target.launches.whole_tiles import WholeTiles
from tileas_xdsl.target.plain_data import read_plain
from tileas_xdsl.target.tma.tensor_map import PixelBox

EXTENTS = Extents((Passed(2), 64), (64, 1))
PIXELS = PixelBox((0, -1), (0, 1))
LOOPS = (LaunchLoop(64, ((0, 1, 2), (0, 3, 2))), LaunchLoop(8, ()))
SUMS = DividedSums(1, 1, 700, 550, 1000, 1500, 2500, (SummedLoad(64, (0,)),), ("0",), LOOPS)
ABI = KernelAbi(
    name="kernel",
    threads=128,
    cluster=(2, 1, 1),
    shared_bytes=1024,
    parameters=("argument 0", "tile blocks x"),
    tensor_maps=(
        TensorMapRecipe(0, (64, 8), "f16", 16, "128B", False, pixels=PIXELS),
        TensorMapRecipe(
            1, (64,), "f16", 16, "none", True, extents=EXTENTS, slices=1, is_written=True
        ),
    ),
    arena_slots=1,
    shared_map="stages 0",
    persistent_launches=PersistentLaunches(("0",), LOOPS, 4096, True, 1, 2),
    shared_loads=(SharedLoads(0, 2, ("block x",), (0,), (LoopLoad(8, -1, True),), 46, 128),),
    few_tile_blocks=(FewTileBlocks(4, ("0", "scalar 3"), LOOPS, (SUMS,)),),
    uneven_waves=UnevenWaves(2, 1, 9000, ("0",), LOOPS),
    divided_sums=SUMS,
    whole_tiles=WholeTiles((12, 14), (128, 64)),
)


def test_an_interface_is_read_as_it_was_written() -> None:
    assert read_plain(KernelAbi, json.loads(json.dumps(asdict(ABI)))) == ABI


def test_what_lacks_a_field_is_refused() -> None:
    found = asdict(ABI)
    del found["threads"]
    with pytest.raises(KeyError):
        read_plain(KernelAbi, found)


def test_a_tuple_has_as_many_values_as_its_type() -> None:
    with pytest.raises(TypeError, match="2 values instead of 3"):
        read_plain(KernelAbi, {**asdict(ABI), "cluster": [1, 1]})
