"""Types and attributes made in Python equal those read from text; atoms know their facts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.layouts import layouts
from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, Builtin, TensorType, TupleType, f16, f32
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError

from tileas_xdsl.dialects.nv_tileaa.attributes import KernelSpec, KernelSpecAttr
from tileas_xdsl.dialects.nv_tileaa.dialect import NvTileaa
from tileas_xdsl.dialects.nv_tileaa.types import AATiledViewType
from tileas_xdsl.dialects.nv_tileas import NvTileas
from tileas_xdsl.dialects.nv_tileas.atom_reading import AtomError, make_atom, read_atom
from tileas_xdsl.dialects.nv_tileas.atoms import (
    COPY_ATOMS,
    CopyAtom,
    CopyAtomInterface,
    MmaAtom,
    ReduceAtom,
    TmaAtom,
)
from tileas_xdsl.dialects.nv_tileas.attributes import (
    AtomAttr,
    BlockedEncoding,
    LayoutAttr,
    LinearEncoding,
    SharedEncoding,
)
from tileas_xdsl.dialects.nv_tileas.enums import RmwMode, Space, SpaceAttr
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of, space_of
from tileas_xdsl.dialects.nv_tileas.types import (
    AsyncTokenType,
    IteratorType,
    MemTokenType,
    TiledViewType,
)
from tileas_xdsl.layout import BYTE_SWIZZLES, Layout, MemoryLayout, parse_cute_layout


def context() -> Context:
    ctx = Context()
    for dialect in (Builtin, NvTileaa, NvTileas):
        ctx.load_dialect(dialect)
    return ctx


CONTEXT = context()


def read(text: str):
    parser = Parser(CONTEXT, text)
    return parser.parse_attribute() if text.startswith("#") else parser.parse_type()


TILE = TensorType(f16, [128, 64])
SMEM = MemoryLayout(Layout((128, 64), (64, 1)), BYTE_SWIZZLES["128B"])


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (AsyncTokenType(), "!nv_tileas.token"),
        (AsyncTokenType(TILE), "!nv_tileas.token<tile<128x64xf16>>"),
        (IteratorType(TILE), "!nv_tileas.async.pipeline.iterator<tile<128x64xf16>>"),
        (
            IteratorType(TupleType(ArrayAttr([TILE, f32])), 3, Space.SMEM),
            "!nv_tileas.async.pipeline.iterator<tuple<tensor<128x64xf16>, f32>, 3, smem>",
        ),
        (
            TiledViewType([128, 64], f16, Space.SMEM, LayoutAttr(SMEM)),
            "!nv_tileas.tiled_view<128x64xf16, smem, <(128,64),(64,1),swizzle<3,4,3>>>",
        ),
        (
            TiledViewType([DYNAMIC_INDEX, 64], f16, Space.GMEM),
            "!nv_tileas.tiled_view<?x64xf16, gmem>",
        ),
        (AATiledViewType([2, 8], f16), "!nv_tileaa.tiled_view<2x8xf16>"),
        (AtomAttr.of("tma_load_2d", box=(64, 64)), "#nv_tileas<atom tma_load_2d<box = [64, 64]>>"),
        (SpaceAttr(Space.TMEM), "#nv_tileas<space tmem>"),
        (SharedEncoding(SMEM), "#nv_tileas.shared<(128,64),(64,1),swizzle<3,4,3>>"),
        (
            KernelSpecAttr(KernelSpec(num_warps=12, cluster_dim=(2, 1, 1))),
            "#nv_tileaa.kernel_spec<num_warps = 12, cluster_dim = [2, 1, 1]>",
        ),
    ],
)
def test_made_in_python_equals_read_from_text(made, text: str) -> None:
    assert read(text) == made
    assert read(str(made)) == made


@given(layouts(), st.sampled_from([None, *BYTE_SWIZZLES.values()]))
def test_shared_encodings_round_trip(layout: Layout, swizzle) -> None:
    encoding = SharedEncoding(MemoryLayout(layout, swizzle))
    assert read(str(encoding)) == encoding


@settings(max_examples=50)
@given(st.text(alphabet='(),:@<>"4 thread', max_size=30))
def test_random_encodings_are_read_or_refused_with_a_place(text: str) -> None:
    for form in (f"#nv_tileas.shared<{text}>", f'#nv_tileas.blocked<"{text}">'):
        try:
            attribute = read(form)
        except ParseError as error:
            assert 0 <= error.span.start <= len(form)
            continue
        assert read(str(attribute)) == attribute


def test_spaces_shapes_and_elements() -> None:
    view = TiledViewType([128, 64], f16, Space.SMEM)
    assert (space_of(view), shape_of(view), element_of(view)) == (Space.SMEM, (128, 64), f16)
    tmem = LinearEncoding(parse_cute_layout("(128,64):(1@lane,1@column)"))
    blocked = BlockedEncoding(parse_cute_layout("(32,4):(1@thread,1@value)"))
    for encoding, space in (
        (SharedEncoding(SMEM), Space.SMEM),
        (SpaceAttr(Space.TMEM), Space.TMEM),
        (tmem, Space.TMEM),
        (blocked, Space.RMEM),
    ):
        assert space_of(TensorType(f16, [128, 64], encoding)) == space
    assert space_of(TILE) is None
    assert space_of(read("memref<8xf16>")) == Space.GMEM
    assert space_of(read("memref<8xf16, #nv_tileas<space smem>>")) == Space.SMEM
    assert space_of(read("memref<8xf16, 3 : i32>")) is None
    assert space_of(MemTokenType()) is None
    assert shape_of(f16) is None
    assert element_of(AATiledViewType([2, 8], f16)) == f16


# Atoms


@pytest.mark.parametrize("word", COPY_ATOMS)
def test_copy_atoms_know_their_spaces(word: str) -> None:
    atom = make_atom(word)
    assert isinstance(atom, CopyAtom)
    assert (str(atom), atom.family) == (word, word)
    assert atom.spaces == COPY_ATOMS[word].spaces
    assert atom.targets[0] in ("sm_90a", "sm_100a")
    assert ("tcgen05" in word) == (atom.targets[0] == "sm_100a" and "ldsm" not in word)


def test_tma_atoms() -> None:
    atom = make_atom("tma_load_3d", {"box": (1, 64, 64), "mode": "im2col", "multicast": None})
    assert atom == TmaAtom("tma_load", 3, (1, 64, 64), "im2col", multicast=True)
    assert isinstance(atom, CopyAtomInterface)
    assert (atom.family, atom.box_rank) == ("tma_load", 3)
    assert str(atom) == "tma_load_3d<box = [1, 64, 64], mode = im2col, multicast>"
    assert make_atom("tma_load_2d", {"mode": "gather4"}).targets[0] == "sm_100a"
    reduce = make_atom("tma_redg_2d", {"op": "max"})
    assert isinstance(reduce, TmaAtom)
    assert reduce.reduction is RmwMode.MAX
    assert reduce.spaces == ((Space.SMEM, Space.GMEM),)


def test_mma_and_reduce_atoms() -> None:
    atom = make_atom("tcgen05_mxf4_mxf4_f32", {"scale_vector": 32, "cta_group": 2})
    assert atom == MmaAtom("tcgen05", "mxf4", "mxf4", "f32", (), 32, 2)
    assert atom.targets[0] == "sm_100a"
    assert make_atom("wgmma_bf16_bf16_f32").family == "wgmma"
    assert make_atom("mma_e4m3_e5m2_f32").targets[0] == "sm_90a"
    assert make_atom("reduce_min") == ReduceAtom("min")


def test_parameters_are_written_once() -> None:
    pairs = [("shape", (1, 1, 1)), ("shape", (16, 8, 16))]
    with pytest.raises(AtomError, match="atom 'mma_f16_f16_f32' has parameter 'shape' twice"):
        read_atom("mma_f16_f16_f32", pairs)
    assert read_atom("mma_f16_f16_f32", pairs[1:]) == make_atom(
        "mma_f16_f16_f32", {"shape": (16, 8, 16)}
    )


@pytest.mark.parametrize("instruction", ["mma", "wgmma", "tcgen05"])
@pytest.mark.parametrize("group", [None, -1, 0, 1, 2, 3])
def test_groups_of_ctas(instruction: str, group: int | None) -> None:
    """An atom keeps what is written, and leaves open what is not."""
    word = f"{instruction}_f16_f16_f32"
    given_ = {} if group is None else {"cta_group": group}
    if group is None or group == 1 or (group == 2 and instruction == "tcgen05"):
        atom = make_atom(word, given_)
        assert isinstance(atom, MmaAtom)
        assert atom.cta_group == (group or 0)
        assert str(atom) == (word if group is None else f"{word}<cta_group = {group}>")
        return
    with pytest.raises(AtomError, match=r"cta_group of atom|only tcgen05 works with 2 CTAs"):
        make_atom(word, given_)


@given(st.text(max_size=20), st.dictionaries(st.text(max_size=5), st.integers(), max_size=2))
def test_any_other_word_is_refused(word: str, parameters) -> None:
    try:
        atom = make_atom(word, parameters)
    except AtomError as error:
        assert word in str(error) or not word
        return
    assert atom.keyword == word
