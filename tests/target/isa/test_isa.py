"""The table of PTX instruction forms: notation, legality, and agreement with ptxas."""

import random
from collections import defaultdict

import pytest
from support.assembling import needs_ptxas

from tests.target.isa.isa_samples import (
    VERSION,
    emulator_refusals,
    instruction,
    instruction_of,
    refusals,
)
from tileas_xdsl.target.arch import TARGETS, Platform, get_target, platform_of
from tileas_xdsl.target.features import Feature
from tileas_xdsl.target.isa.forms import form
from tileas_xdsl.target.isa.legality import refusal
from tileas_xdsl.target.isa.requirements import since
from tileas_xdsl.target.isa.table import TABLE

ARCHS = pytest.mark.parametrize("arch", TARGETS)
BATCH = 300
"""Instructions of one kernel: the time of ptxas grows with the square of its `wgmma`."""


def test_notation():
    row = form("add{.rounding}{.ftz}.f32", "d, a, b", rounding=("rn", "rz"))
    assert [row.spell(words) for words in row.opcodes()] == [
        *("add.f32", "add.ftz.f32", "add.rn.f32", "add.rn.ftz.f32", "add.rz.f32", "add.rz.ftz.f32")
    ]
    assert row.match(["add", "rz", "f32"]) == {"add": "add", "rounding": "rz", "f32": "f32"}
    assert row.match(["add", "ftz", "rn", "f32"]) is not None, "modifiers stand in any order"
    assert row.match(["add", "rm", "f32"]) is None
    assert row.match(["add", "rn"]) is None


def test_types_keep_their_order():
    row = form("cvt.to.source", "d:to, a:source", to=("u8", "u16"), source=("u8", "u16"))
    assert row.match(["cvt", "u8", "u16"]) == {"cvt": "cvt", "to": "u8", "source": "u16"}


def test_counts_of_operands():
    row = form("f{.hint}", "[a], <d:b32*4>, t:u32?, p:b64?hint")
    assert row.operand_counts({}) == (2, 3)
    assert row.operand_counts({"hint": "hint"}) == (3, 4)


@pytest.mark.parametrize(
    ("opcode", "operands", "arch", "version", "says"),
    [
        ("add.rn.f32x2", 3, "sm_100a", (8, 6), None),
        ("add.rn.f32x2", 3, "sm_90a", (9, 0), "add.rn.f32x2 needs sm_100 or later; the target is"),
        ("redux.sync.min.f32", 3, "sm_90a", (9, 0), "needs sm_100a; the target is sm_90a"),
        ("cvt.rn.satfinite.e2m1x2.f32", 3, "sm_90a", (9, 0), "needs sm_100a"),
        ("min.f32", 3, "sm_90a", (8, 0), None),
        ("min.f32", 4, "sm_90a", (9, 0), "min.f32 needs sm_100 or later"),
        ("min.f32", 4, "sm_100a", (8, 6), "min.f32 needs .version 8.8; the module has 8.6"),
        ("min.f32", 5, "sm_100a", (8, 6), "min takes 3 or 4 operands, not 5"),
        ("fma.f32", 4, "sm_90a", (8, 0), "fma: one of .rn, .rz, .rm, .rp is missing"),
        ("atom.add.f16", 3, "sm_90a", (8, 0), "atom: .noftz is missing"),
        ("fma.rn.ftz.bf16", 4, "sm_90a", (8, 0), "fma: .ftz is not for .bf16"),
        ("wobble.u32", 1, "sm_90a", (8, 0), "instruction 'wobble.u32' is not supported"),
    ],
)
def test_refusals(opcode, operands, arch, version, says):
    why = refusal(opcode, operands, get_target(arch), version)
    assert why is says or says in why


def test_platforms():
    assert platform_of("sm_80") == Platform("sm_80", 80)
    assert platform_of("sm_90").features == frozenset()
    assert "tcgen05" in platform_of("sm_103a").features
    assert "tcgen05" in platform_of("sm_110f").features
    assert platform_of("gfx90a") is None
    assert since((8, 6), 90, Feature.WGMMA).met_by(platform_of("sm_90a"))


def test_words_of_tensor_memory_that_exclude_one_another():
    """PTX ISA 9.7.16.10.9.1: a shifted A has no collector::a::fill and ::use."""
    mma = "tcgen05.mma.cta_group::1.kind::f16"
    assert TABLE.find(f"{mma}.ashift.collector::a::lastuse")
    assert not TABLE.find(f"{mma}.ashift.collector::a::use")
    registers = ", ".join(f"%r{i}" for i in range(1, 129))
    load = f"tcgen05.ld.sync.aligned.32x32b.x128.pack::16b.b32 {{{registers}}}, [%r7]"
    assert not emulator_refusals([load], "sm_100a")


# The sweep


def each_word(row):
    """The opcodes of a form in which every word of every slot is there at least once."""
    seen = set()
    for words in row.opcodes():
        if not seen.issuperset(words.items()):
            seen |= words.items()
            yield words


def every_opcode(row):
    return row.opcodes()


def disagreements(lines, arch, legal, version=VERSION):
    """Instructions on whose legality the table, ptxas and the emulator differ."""
    found = []
    for start in range(0, len(lines), BATCH):
        part = lines[start : start + BATCH]
        assembler = refusals(part, arch, version)
        emulator = emulator_refusals(part, arch, version)
        for index, line in enumerate(part):
            is_legal = legal[start + index]
            if is_legal != (index not in assembler):
                found.append(f"table: {is_legal}: {line}: {assembler.get(index)}")
            elif is_legal != (index not in emulator) and not not_executed(line):
                found.append(f"emulator: {line}: {emulator.get(index)}")
    return found


NOT_EXECUTED = (
    "call",
    *(f"tcgen05.cp.cta_group::{group}.4x256b" for group in (1, 2)),
)
"""Legal forms that the emulator has no semantics for: it says so at the instruction."""


def not_executed(line):
    opcode = line.split(" ")[0]
    unpacks = opcode.startswith("tcgen05.cp") and "b8x16" in opcode
    rounds = opcode.startswith("cvt.rs") and "x4." in opcode
    return unpacks or rounds or ".ashift" in opcode or opcode.startswith(NOT_EXECUTED)


OF_OTHER_TARGETS = {"sm_100a": ("kind::f8f6f4.",)}
"""What ptxas 13.5 takes in part, and the PTX ISA has for sm_120a alone."""


def sweep(arch, opcodes, version=VERSION, every=1):
    """Disagreements over the instructions of the table, or over one in so many."""
    target, lines, legal = get_target(arch), [], []
    for row in TABLE.forms:
        needs = row.requirement
        is_legal = needs.met_by(target) and needs.version <= version
        for words in opcodes(row):
            line = instruction(row, words)
            if is_legal or not any(word in line for word in OF_OTHER_TARGETS.get(arch, ())):
                lines.append(line)
                legal.append(is_legal)
    assert len(lines) > 4000
    return disagreements(lines[::every], arch, legal[::every], version)


def neighbours(row, words, vocabulary, share, rng):
    """Opcodes one word off that no form has: a slot empty, or with a word of another form."""
    for slot in row.slots:
        if slot.is_name:
            continue
        for word in ("", *vocabulary[row.mnemonic, slot.name]):
            if rng.random() >= share:
                continue
            changed = {**words, slot.name: word}
            opcode = ".".join(changed[s.name] for s in row.slots if changed[s.name])
            if not TABLE.find(opcode):
                yield opcode, changed


def wrong_instructions(share):
    """By opcode, instructions next to legal ones."""
    vocabulary = defaultdict(dict)
    for row in TABLE.forms:
        for slot in row.slots:
            vocabulary[row.mnemonic, slot.name] |= dict.fromkeys(slot.words)
    rng, found = random.Random(1), {}
    for row in TABLE.forms:
        for words in each_word(row):
            for opcode, changed in neighbours(row, words, vocabulary, share, rng):
                try:
                    found[opcode] = instruction_of(row, changed)
                except KeyError:
                    continue  # no register has that type
    return found


UNDOCUMENTED = (
    *("fma.rz.", "fma.rm.", "fma.rp.", "testp.f32", "testp.f64", "prefetch.L2::evict", "fence"),
    *(f"rcp.{rounding}.ftz.f64" for rounding in ("rn", "rz", "rm", "rp")),
    *("cvt.bf16.f32", "cvt.rn.ftz.bf16.f32", "cvt.rz.ftz.bf16.f32", "cvt.rna.ftz.bf16.f32"),
)
"""What ptxas takes and the PTX ISA does not have."""


def undocumented(opcode):
    """Vectors of 32 bytes are documented for plain accesses of global memory only."""
    wide = opcode.startswith(("ld.", "st.")) and (".v8." in opcode or opcode.endswith("64"))
    return wide or opcode.startswith(UNDOCUMENTED)


def wrongly_refused(arch, share):
    """What no form of the table has and ptxas takes nevertheless."""
    opcodes, lines = zip(*wrong_instructions(share).items(), strict=True)
    assert len(opcodes) > 50_000 * share
    found = []
    for start in range(0, len(lines), BATCH):
        part = lines[start : start + BATCH]
        said, emulator = refusals(part, arch), emulator_refusals(part, arch)
        assert len(emulator) == len(part), "the emulator refuses what the table does not have"
        taken = [i for i in range(len(part)) if i not in said]
        found += [part[i] for i in taken if not undocumented(opcodes[start + i])]
    return found


@needs_ptxas
def test_ptxas_takes_a_quarter_of_what_the_table_has():
    assert sweep("sm_90a", each_word, every=4) == []
    assert wrongly_refused("sm_90a", 0.005) == []


@pytest.mark.slow
@needs_ptxas
@ARCHS
def test_ptxas_takes_what_the_table_has_and_no_more(arch):
    assert sweep(arch, each_word) == []
    assert wrongly_refused(arch, 0.02) == []


@needs_ptxas
@pytest.mark.slow
@ARCHS
def test_every_opcode(arch):
    assert sweep(arch, every_opcode) == []


@needs_ptxas
@pytest.mark.slow
@ARCHS
def test_every_wrong_neighbour(arch):
    assert wrongly_refused(arch, 1) == []


@needs_ptxas
@pytest.mark.slow
@pytest.mark.parametrize(
    ("arch", "version"),
    [
        *(("sm_90a", (8, minor)) for minor in range(9)),
        *(("sm_100a", (8, minor)) for minor in (6, 7, 8)),
        *((arch, (9, 0)) for arch in TARGETS),
    ],
)
def test_every_version(arch, version):
    assert sweep(arch, each_word, version) == []
