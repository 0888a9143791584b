"""Block-scaled GEMMs: numpy, the interpreter and the emulator agree, and ptxas is content."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest
from support.assembling import needs_nvdisasm, needs_ptxas

from kernels import GemmMxf4, GemmMxf8, GemmNvf4, ScaledGemm, Sizes
from kernels.compiled import ORDERS, TWO_ORDERS, compiled, emulated
from kernels.scaled_gemm import in_atoms, of_atoms
from kernels.simulating import run, schedules
from tests.support.orders import some
from tileas_xdsl.backend.sass import disassemble
from tileas_xdsl.compiler import compile
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.target.mma.block_scales import ATOM_ROWS, ATOM_SCALES, atoms_layout
from tileas_xdsl.target.mma.instruction_descriptor import BlockScaledDescriptor, decode

KERNELS = (
    GemmMxf8(),
    GemmMxf4(),
    GemmNvf4(),
    GemmMxf8(bn=256, stages=4),
    GemmMxf4(bn=256, stages=2),
    GemmNvf4(bn=256, stages=4),
)
RAGGED: Sequence[Sizes] = (
    {"m": 140, "n": 136, "k": 1088},
    {"m": 1, "n": 8, "k": 32},
)
MORE: Sequence[Sizes] = (*RAGGED, {"m": 300, "n": 264, "k": 800}, {"m": 128, "n": 256, "k": 1536})


def _name(part: ScaledGemm | Sizes) -> str:
    return str(part) if isinstance(part, ScaledGemm) else "x".join(map(str, part.values()))


@pytest.mark.sample(2)
@pytest.mark.parametrize("kernel", KERNELS, ids=_name)
def test_the_tiles_compute_what_numpy_does(kernel: ScaledGemm) -> None:
    for schedule in schedules(2):
        found = run(kernel, {"m": 140, "n": 72, "k": 288}, schedule)
        assert found.deviation.is_right, (schedule, found.deviation)


@pytest.mark.sample(3)
@pytest.mark.parametrize("sizes", RAGGED, ids=_name)
@pytest.mark.parametrize("kernel", KERNELS, ids=_name)
def test_the_ptx_computes_what_numpy_does(kernel: ScaledGemm, sizes: Sizes) -> None:
    for order in some(TWO_ORDERS, (kernel, sizes)):
        found = emulated(kernel, sizes, order)
        assert [str(finding) for finding in found.emulation.findings] == []
        assert found.is_right, (order, found.deviation)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", MORE, ids=_name)
@pytest.mark.parametrize("kernel", KERNELS, ids=_name)
def test_the_ptx_computes_it_in_every_order(kernel: ScaledGemm, sizes: Sizes) -> None:
    for order in ORDERS:
        found = emulated(kernel, sizes, order)
        assert [str(finding) for finding in found.emulation.findings] == []
        assert found.is_right, (order, found.deviation)


@pytest.mark.parametrize("kernel", KERNELS[:3], ids=_name)
def test_the_ptx_and_the_interpreter_agree(kernel: ScaledGemm) -> None:
    """Arguments that are read stay as they are; sums, whose order is free, differ by rounding."""
    tiles = run(kernel).simulation.arrays
    ptx = emulated(kernel, kernel.sizes).emulation.arrays
    for one, other in zip(tiles[:-1], ptx[:-1], strict=True):
        np.testing.assert_array_equal(one.view(np.uint8), other.view(np.uint8))
    np.testing.assert_allclose(ptx[-1], tiles[-1], rtol=0, atol=2.0**-20 * np.abs(tiles[-1]).max())


def test_the_data_tells_blocks_apart() -> None:
    """A row's scales differ, so that one in the place of another changes the result."""
    for kernel in KERNELS[:3]:
        _, _, *scales, _ = kernel.make_inputs(np.random.default_rng(0), kernel.sizes)
        for atoms in scales:
            numbers = of_atoms(atoms).astype(np.float32)
            assert all(len(np.unique(row)) > 2 for row in numbers[:72])


@needs_ptxas
@pytest.mark.parametrize("kernel", KERNELS, ids=_name)
def test_ptxas_is_content(kernel: ScaledGemm) -> None:
    """It says nothing and spills nothing."""
    made = compiled(kernel)
    assembled = made.assemble()
    assert assembled.messages == ()
    assert (assembled.spills, assembled.stack) == (0, 0)
    assert 0 < assembled.registers <= 65536 // made.abi.threads


@needs_nvdisasm
@pytest.mark.parametrize(
    ("kernel", "mnemonic"), [(KERNELS[0], "UTCQMMA"), (KERNELS[1], "UTCOMMA")], ids=str
)
def test_the_main_loop_is_tight(kernel: ScaledGemm, mnemonic: str) -> None:
    """A copy for each atom, four products, one commit, and nothing in local memory."""
    machine_code = disassemble(compiled(kernel).cubin())[kernel.name]
    (loop,) = machine_code.loops_with(mnemonic)
    atoms = 2 * kernel.bk // kernel.block // ATOM_SCALES
    assert (loop.count(mnemonic), loop.count("UTCCP"), loop.count("UTCBAR")) == (4, atoms, 1)
    assert not {i.mnemonic for i in machine_code.instructions} & {"LDL", "STL"}


@pytest.mark.parametrize(
    ("kernel", "kind", "vector", "ids"),
    [
        (KERNELS[0], "mxf8f6f4", "1X", (0, 1, 2, 3)),
        (KERNELS[1], "mxf4", "2X", (0, 2, 0, 2)),
        (KERNELS[2], "mxf4nvf4", "4X", (0, 0, 0, 0)),
    ],
    ids=str,
)
def test_each_instruction_has_its_scales(
    kernel: ScaledGemm, kind: str, vector: str, ids: Sequence[int]
) -> None:
    """Bytes of a column by the descriptor; when they are used up, the next columns."""
    text = compiled(kernel).ptx
    named = dict(re.findall(r"mov\.b32 (%r\d+), (\d+);", text))
    products = re.findall(rf"{kind}\.block_scale\.scale_vec::{vector} (.*);", text)
    found = [re.findall(r"%r\d+", operands) for operands in products]
    descriptors = [decode(int(named[words[1]]), kind) for words in found]
    assert all(isinstance(one, BlockScaledDescriptor) for one in descriptors)
    assert tuple(one.a_scale_id for one in descriptors) == ids
    assert tuple(one.b_scale_id for one in descriptors) == ids
    starts = [descriptors[0].a_scale_id == i for i in ids]
    for side in (2, 3):
        assert len({words[side] for words in found}) == sum(starts)


def test_columns_are_those_of_sums_and_scales() -> None:
    """Persistence aside, 128 columns of sums and some of scales are 256, 256 and some are 512."""
    for kernel, columns in zip(KERNELS, (256, 256, 256, 512, 512, 512), strict=True):
        found = re.findall(r"tcgen05\.alloc\S+ \[[^]]+\], (\d+)", compiled(kernel).ptx)
        assert list(map(int, found)) == [columns], kernel


def test_stages_are_waited_for_by_commits_alone() -> None:
    """No product has a barrier of its own: two for the sums, two for each stage."""
    for kernel in KERNELS:
        inits = compiled(kernel).ptx.count("mbarrier.init")
        assert inits == 2 + 2 * kernel.stages, kernel


def test_layouts_that_types_have_are_kept() -> None:
    """Views keep the layout of atoms, and atoms are not swizzled, unlike operands."""
    kernel = GemmNvf4(bn=256)
    text = compiled(kernel).ir("tileas-assign-load-store-layouts")
    assert "shared<((32,4,1),(4,4)),((16,4,2048),(1,512))>" in text
    assert "shared<((4,4),(32,4,2)),((1,512),(16,4,2048))>" in text
    assert "tensor<2x4x2x256xf8E4M3FN, #nv_tileas.shared<(2,4,2,256),(2048,512,256,1)>>" in text
    assert "tensor<256x256xf4E2M1FN, #nv_tileas.shared<(256,256),(256,1),swizzle<3,4,3>>>" in text


def test_four_bits_are_packed_in_memory() -> None:
    """A stage announces half a byte for an element, and tensor maps count elements."""
    made = compiled(KERNELS[2])
    elements = 2 * 128 * 256
    atoms = 2 * 4 * 512
    assert f"], {elements // 2 + atoms};" in made.ptx
    assert [one.element for one in made.abi.tensor_maps] == ["b4x16", "b4x16", "u8", "u8"]
    assert [one.box for one in made.abi.tensor_maps[1:3]] == [(256, 128), (256, 2, 4, 1)]


def test_atoms_are_those_of_the_instruction() -> None:
    """The numpy formula of kernels is the layout of the target."""
    rng = np.random.default_rng(0)
    scales = rng.integers(0, 254, (256, 12), dtype=np.uint8)
    memory = in_atoms(scales).reshape(-1)
    layout = atoms_layout(256, 12)
    for row, column in ((0, 0), (1, 1), (37, 5), (200, 11), (255, 7)):
        assert memory[layout(row, column)] == scales[row, column]
    np.testing.assert_array_equal(of_atoms(in_atoms(scales)), scales)
    padded = of_atoms(in_atoms(scales[:3, :5]))
    assert padded.shape == (ATOM_ROWS, 2 * ATOM_SCALES)
    np.testing.assert_array_equal(padded[:3, :5], scales[:3, :5])


@pytest.mark.parametrize("kernel", KERNELS[:3], ids=_name)
def test_another_target_has_no_scaled_products(kernel: ScaledGemm) -> None:
    wanted = message("nv_tileas.block_scaled_mma.needs_sm100")
    with pytest.raises(DiagnosticError, match=re.escape(wanted)) as refusal:
        compile(kernel.text(), "sm_90a")
    assert "nv_tileas.block_scaled_mma" in str(refusal.value)


def test_host_code_makes_the_same_maps() -> None:
    """Of packed elements, too."""
    kernel = KERNELS[2]
    sizes = {"m": 40, "n": 24, "k": 96}
    inputs = kernel.make_inputs(np.random.default_rng(1), sizes)
    made = compile(kernel.text(), kernel.target, host_code=True)
    found = made.emulate(*inputs, grid=kernel.grid(sizes))
    assert [str(finding) for finding in found.findings] == []
    assert kernel.check(inputs, found.arrays).is_right


def test_variants_that_do_not_exist() -> None:
    with pytest.raises(ValueError, match="128 or 256 columns, not 64"):
        GemmMxf4(bn=64)
