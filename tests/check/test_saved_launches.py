"""Launches as files that `tileas check --launch` repeats: arrays, scalars, tensor maps."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tileas_xdsl.check.saved_launches import SavedLaunch
from tileas_xdsl.check.tensor_map_files import TensorMapFileError, read_tensor_map
from tileas_xdsl.interpreters.ptx import LaunchError, TensorMapArg, load
from tileas_xdsl.target.tma.tensor_map import PixelBox, TensorMap
from tileas_xdsl.tools.tileas import app

KERNEL = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 T[128], .param .u64 B, .param .f32 S)
{
    .reg .b32 %t, %s, %r<4>; .reg .b64 %a, %b, %o; .reg .pred %p<4>;
    .shared .align 1024 .b8 box[512]; .shared .align 8 .b8 bar[8];
    mov.u32 %t, %tid.x; ld.param.u64 %b, [B]; mov.u32 %s, box; mov.b64 %a, T; cvta.param.u64 %a, %a;
    setp.ne.u32 %p0, %t, 0; @%p0 bra MADE; mbarrier.init.shared::cta.b64 [bar], 1;
    fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
        [%s], [%a, {0, 2}], [bar];
MADE: bar.sync 0;
W:  mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; @!%p1 bra W;
    mad.lo.u32 %r0, %t, 16, %s; ld.shared.u32 %r1, [%r0]; mul.wide.u32 %o, %t, 4;
    add.u64 %b, %b, %o; st.global.u32 [%b+LATE], %r1; ret;
}
"""


def save(folder: Path, text: str) -> list[str]:
    """The files of a launch of the kernel, which copies a box of rows 2 to 5."""
    module = load(text)
    tensor = TensorMap("f32", 0, (32, 8), (128,), (32, 4))
    array = np.arange(256, dtype=np.float32).reshape(8, 32)
    values = [TensorMapArg(tensor, array), np.zeros(32, np.float32), 1.5]
    launch = SavedLaunch(text, module.kernels["k"], (1, 1, 1), (32,), None, 0, values)
    path = launch.write(folder, "k")
    return ["check", str(folder / "k.ptx"), "--launch", str(path), "--schedules", "1", "--json"]


@pytest.mark.parametrize(("late", "found"), [("0", []), ("4", ["illegal-address"])])
def test_a_launch_with_a_tensor_map_is_repeated(
    tmp_path: Path, late: str, found: list[str]
) -> None:
    words = save(tmp_path, KERNEL.replace("LATE", late))
    result = CliRunner().invoke(app, words)
    assert [f["kind"] for f in json.loads(result.stdout)["findings"]] == found
    assert result.exit_code == bool(found)


def test_a_map_reads_back_as_it_was(tmp_path: Path) -> None:
    save(tmp_path, KERNEL.replace("LATE", "0"))
    made, array = read_tensor_map(tmp_path / "k.0.map.json")
    assert made == TensorMap("f32", 0, (32, 8), (128,), (32, 4))
    assert array == f"@{tmp_path / 'k.0.npy'}"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[1", "is no JSON"),
        ("{}", "it names no array"),
        ('{"array": "f32:4", "wobble": 1}', "unknown key 'wobble'"),
        ('{"array": "f32:4", "element": "f32"}', "lacks a field"),
    ],
)
def test_files_that_are_no_maps(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(TensorMapFileError, match=says):
        read_tensor_map(path)
    launch = tmp_path / "launch.json"
    launch.write_text(json.dumps({"grid": 1, "args": ["map:@x.json", "f32:32", "f32:1"]}))
    (tmp_path / "k.ptx").write_text(KERNEL.replace("LATE", "0"))
    words = ["check", str(tmp_path / "k.ptx"), "--block", "32", "--launch", str(launch)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 1
    assert says in " ".join(result.stderr.split())


def test_maps_of_pixels_are_not_saved(tmp_path: Path) -> None:
    pixels = PixelBox((0, 0), (0, 0))
    tensor = TensorMap("f32", 0, (32, 8, 8, 2), (128, 1024, 8192), (32, 4), pixels=pixels)
    module = load(KERNEL.replace("LATE", "0"))
    values = [TensorMapArg(tensor, np.zeros(4096, np.float32)), np.zeros(32, np.float32), 1.5]
    launch = SavedLaunch("", module.kernels["k"], (1,), (32,), None, 0, values)
    with pytest.raises(LaunchError, match="im2col maps cannot be saved"):
        launch.write(tmp_path, "k")
