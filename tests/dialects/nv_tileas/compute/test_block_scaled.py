"""Supported block-scaled products, and the message of the first failing check."""

import pytest
from support.ir import assert_prints, program
from xdsl.dialects.builtin import (
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    TensorType,
    f16,
    f32,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.compute.block_scaled import (
    BLOCK_SCALED,
    BlockScaledConfiguration,
    BlockScaledTypes,
    BlockScaleError,
    block_scaled_configuration,
)
from tileas_xdsl.dialects.nv_tileas.compute.dot import BlockScaledMmaOp

E4M3, E5M2 = Float8E4M3FNType(), Float8E5M2Type()
E2M1, E8M0 = Float4E2M1FNType(), Float8E8M0FNUType()
M, N, K = 128, 64, 128


def types(
    a: Attribute,
    b: Attribute,
    scale: Attribute | None,
    vector: int,
    c: Attribute = f32,
    scale_b: Attribute | None = None,
) -> BlockScaledTypes:
    """A product of these elements with one scale for `vector` elements."""
    sfa = sfb = None
    if scale is not None:
        sfa = TensorType(scale, [M, K // vector])
        sfb = TensorType(scale_b or scale, [K // vector, N])
    return BlockScaledTypes(
        TensorType(a, [M, K]), TensorType(b, [K, N]), TensorType(c, [M, N]), sfa, sfb
    )


@pytest.mark.parametrize(
    ("given", "packed", "kind", "scale_vector"),
    [
        (types(E4M3, E4M3, E8M0, 32), 0x2000000020, "mxf8f6f4", "1X"),
        (types(E4M3, E5M2, E8M0, 32), 0x2000000020, "mxf8f6f4", "1X"),
        (types(E2M1, E5M2, E8M0, 32), 0x2000000020, "mxf8f6f4", "1X"),
        (types(E2M1, E2M1, E4M3, 16), 0x4000000010, "mxf4nvf4", "4X"),
        (types(E2M1, E2M1, E8M0, 16), 0x4000000010, "mxf4nvf4", "4X"),
        (types(E2M1, E2M1, E8M0, 32), 0x4000000020, "mxf4", "2X"),
    ],
)
def test_configurations(given: BlockScaledTypes, packed: int, kind: str, scale_vector: str) -> None:
    found = block_scaled_configuration(given)
    assert (found.packed, found.kind, found.scale_vector) == (packed, kind, scale_vector)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (types(E2M1, E2M1, None, 16, c=f16), "fp4 mma should expect scaling factors"),
        (types(E4M3, E2M1, None, 16), "fp4 mma should expect scaling factors"),
        (types(E2M1, E2M1, E8M0, 16, f16, E4M3), "sfa and sfb element type mismatch"),
        (types(f16, f16, E8M0, 16, c=f16), "expects c type to be Float32"),
        (types(f16, f16, E8M0, 32), "unsupported block-scaled mma configuration"),
        (types(E4M3, E4M3, E8M0, 16), "unsupported block-scaled mma configuration"),
        (types(E4M3, E4M3, E4M3, 32), "unsupported block-scaled mma configuration"),
        (types(E4M3, E4M3, None, 32), "unsupported block-scaled mma configuration"),
        (types(E2M1, E2M1, E4M3, 32), "unsupported block-scaled mma configuration"),
    ],
)
def test_the_first_failing_phase_speaks(given: BlockScaledTypes, text: str) -> None:
    with pytest.raises(BlockScaleError) as error:
        block_scaled_configuration(given)
    assert str(error.value) == text


def test_scales_of_different_extents() -> None:
    given = BlockScaledTypes(
        TensorType(E4M3, [M, K]),
        TensorType(E4M3, [K, N]),
        TensorType(f32, [M, N]),
        TensorType(E8M0, [M, 4]),
        TensorType(E8M0, [8, N]),
    )
    with pytest.raises(BlockScaleError) as error:
        block_scaled_configuration(given)
    assert str(error.value) == "Scale factor vector size mismatch: 4, 8"


@pytest.mark.parametrize("row", BLOCK_SCALED.values(), ids=lambda row: row.kind)
def test_two_ctas_are_an_entry_of_the_table(row: BlockScaledConfiguration) -> None:
    element = E4M3 if row.atom_k == 32 else E2M1
    given = types(element, element, E8M0, row.vector_size)
    assert block_scaled_configuration(given, cta_group=1) is row
    if 2 in row.cta_groups:
        assert block_scaled_configuration(given, cta_group=2) is row
    else:
        with pytest.raises(BlockScaleError, match="unsupported block-scaled mma configuration"):
            block_scaled_configuration(given, cta_group=2)


def test_the_atom_may_fix_k() -> None:
    """4-bit elements in an instruction of K = 32 are those of mxf8f6f4."""
    given = types(E2M1, E2M1, E8M0, 32)
    assert block_scaled_configuration(given, atom_k=32).kind == "mxf8f6f4"


def test_the_constructor() -> None:
    given = types(E2M1, E2M1, E4M3, 16)
    assert given.sfa is not None
    assert given.sfb is not None
    module, builder, (a, b, c, sa, sb) = program(given.a, given.b, given.c, given.sfa, given.sfb)
    op = builder.insert(BlockScaledMmaOp(a, b, c, sa, sb, "tcgen05_e2m1_e2m1_f32", cta_group=2))
    assert op.configuration.kind == "mxf4nvf4"
    assert_prints(
        module,
        """
        %5 = nv_tileas.block_scaled_mma %0, %1, %2 scales(%3 : tensor<128x8xf8E4M3FN>, %4 :
            tensor<8x64xf8E4M3FN>) {atom = #nv_tileas<atom tcgen05_e2m1_e2m1_f32>, cta_group = 2 :
            i32} : tensor<128x128xf4E2M1FN>, tensor<128x64xf4E2M1FN>, tensor<128x64xf32> ->
            tensor<128x64xf32>
        """,
    )


@pytest.mark.parametrize("of_atom", [None, 1, 2])
@pytest.mark.parametrize("of_op", [None, 1, 2])
def test_the_atom_says_how_many_ctas_work_together(of_atom: int | None, of_op: int | None) -> None:
    given = types(E2M1, E2M1, E4M3, 16)
    assert given.sfa is not None
    assert given.sfb is not None
    _, _, (a, b, c, sa, sb) = program(given.a, given.b, given.c, given.sfa, given.sfb)
    atom = AtomAttr.of(
        "tcgen05_e2m1_e2m1_f32", **({} if of_atom is None else {"cta_group": of_atom})
    )
    op = BlockScaledMmaOp(a, b, c, sa, sb, atom, cta_group=of_op)
    assert op.ctas == (of_op or of_atom or 1)
    if of_op is None or of_atom in (None, of_op):
        op.verify()
        return
    with pytest.raises(VerifyException, match=f"cta_group is {of_op}, but {of_atom} in the atom"):
        op.verify()
