"""Wrong kernels: each is a right one with a small edit that breaks one rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kernels import Copy, Gemm, Kernel, Sizes, VectorAdd
from kernels.mutations import (
    Edit,
    after,
    all_of,
    before,
    body_of_agent,
    in_agent,
    replacing,
    swapping,
    without,
)

GEMM = Gemm()
STEPS = Gemm(form="scalar")
STAGED = Gemm(epilogue="tma")
CLUSTER = Gemm(form="scalar", cluster=2)
ADD = VectorAdd()
COPY = Copy()

SMALL: Mapping[str, Sizes] = {
    "gemm": {"m": 20, "n": 24, "k": 208},
    "copy": {"m": 7, "n": 144},
    "vector_add": {"n": 100},
}
"""By kernel, a ragged problem of one block (one cluster); two for `vector_add`."""


@dataclass(frozen=True)
class Fault:
    """A kernel with an edit that breaks a rule."""

    name: str
    kernel: Kernel
    edit: Edit
    says: Sequence[str]
    """Parts of the message and its notes, in every schedule that finds it."""
    at: Sequence[str]
    """Parts of the line that the message points to, that of a waiting agent in a deadlock; one of
    them is there."""
    refused: str = ""
    """The verifier's message, if it refuses the text; else empty."""

    @property
    def text(self) -> str:
        """The wrong kernel."""
        return self.edit(self.kernel.text())

    @property
    def problem(self) -> Sizes:
        """A size that needs few blocks."""
        return SMALL[self.kernel.name]


def _second_agent_produces(text: str) -> str:
    start, end = body_of_agent(text, 0)
    producer = text[start:end]
    start, end = body_of_agent(text, 2)
    return text[:start] + producer + text[end:]


_SECOND_LOOP = all_of(
    after(
        "%j0 = ",
        "    %c_end = scf.for %round = %zero to %two step %one iter_args(%q = %c0) -> (!cons) {",
        "    %j9 = nv_tileas.async.pipeline.create_iterator %q : !cons -> !iter",
    ),
    replacing("iter_args(%t = %c0, %j = %j0", "iter_args(%t = %q, %j = %j9"),
    replacing("%zero to %tiles", "%zero to %bound"),
    before("%cn, %jn, %acc = ", "    %bound = arith.constant 3 : index"),
    before("%top = ", "    scf.yield %cn : !cons", "    }"),
    replacing("%acc, %mine", "%nothing, %mine"),
)
"""Consumer 0 does its loop in two parts of three, each with an iterator of its own."""

_LAP = (
    "    %x1 = nv_tileas.async.pipeline.inc_iter %x0 : !iter -> !iter",
    "    %x2 = nv_tileas.async.pipeline.inc_iter %x1 : !iter -> !iter",
)

_LOADED_ASIDE = (
    "  %aside = nv_tileas.alloc_tensor : tensor<8x32xf16, #nv_tileas<space smem>>",
    "  %begun = nv_tileas.async.tiled_tma_load %of_a, %aside[%row, %zero] barrier %barrier "
    "{atom = #load} : !desc, tensor<8x32xf16, #nv_tileas<space smem>>, index, index, !barrier"
    " -> !token",
    "  %sent = nv_tileas.async.tiled_tma_store %of_b, %aside[%row, %zero] {atom = #store} : "
    "!desc, tensor<8x32xf16, #nv_tileas<space smem>>, index, index -> !token",
    "  nv_tileas.async.wait %sent : !token",
)

_USE_AFTER_RELEASE = all_of(
    replacing("-> !cons, !sum {", "-> !cons, !half, !b {"),
    replacing("%t2, %dot =", "%t2, %held, %other ="),
    without("%started = "),
    without("%t3 = "),
    replacing("yield %started : !sum", "yield %mine, %sb : !half, !b"),
    before(
        "%after = ",
        "      %t3 = nv_tileas.async.pipeline.consumer_release %t2 : !cons -> !cons",
        "      %dot = nv_tileas.async.dot %held, %other, %before {atom = #mma} : "
        "!half, !b, !acc -> !sum",
    ),
)

FAULTS: Sequence[Fault] = (
    Fault(
        "wait dropped: the stage is read before it was committed",
        STEPS,
        in_agent(
            1, all_of(without("consumer_wait"), replacing("consumer_read %t1", "consumer_read %t"))
        ),
        ("agent 1 reads stage 0", "without waiting"),
        ("consumer_read",),
    ),
    Fault(
        "wait on the wrong stage",
        STEPS,
        in_agent(
            1,
            all_of(
                before(
                    "consumer_wait",
                    "      %j9 = nv_tileas.async.pipeline.inc_iter %j : !iter -> !iter",
                ),
                replacing("consumer_wait %t, %j", "consumer_wait %t, %j9"),
            ),
        ),
        ("agent 1 reads stage 0", "without waiting"),
        ("consumer_read",),
    ),
    Fault(
        "acquire dropped: the stage is overwritten before it was released",
        STEPS,
        in_agent(
            0,
            all_of(
                without("producer_acquire"), replacing("producer_write %p1", "producer_write %p")
            ),
        ),
        ("agent 0 writes stage 0", "has not acquired"),
        ("producer_write", "tiled_tma_load"),
    ),
    Fault(
        "committed twice",
        STEPS,
        in_agent(
            0,
            all_of(
                after(
                    "producer_commit",
                    "      %p4 = nv_tileas.async.pipeline.producer_commit %p3 : !prod -> !prod",
                ),
                replacing("yield %p3", "yield %p4"),
            ),
        ),
        ("agent 0 commits stage 0", "twice"),
        ("producer_commit",),
        refused="needs a token from producer_acquire, producer_write or produce_one_async",
    ),
    Fault(
        "released twice",
        STEPS,
        in_agent(
            1,
            all_of(
                after(
                    "consumer_release",
                    "      %t4 = nv_tileas.async.pipeline.consumer_release %t3 : !cons -> !cons",
                ),
                replacing("yield %t3", "yield %t4"),
            ),
        ),
        ("agent 1", "stage 0", "releas"),
        ("consumer_release",),
        refused="needs a token from consumer_wait, consumer_read or consume_one_async",
    ),
    Fault(
        "an iterator created anew for a second loop: a phase two back satisfies the wait",
        GEMM,
        in_agent(1, _SECOND_LOOP),
        ("agent 1", "phase"),
        ("consume_one",),
    ),
    Fault(
        "the producer's iterator starts a lap late: its parity is swapped",
        GEMM,
        in_agent(
            0,
            all_of(
                replacing("%i0 = ", "%x0 = "),
                after(
                    "%x0 = ",
                    *_LAP,
                    "    %i0 = nv_tileas.async.pipeline.inc_iter %x2 : !iter -> !iter",
                ),
            ),
        ),
        ("deadlock", "agent 0 waits for", "empty"),
        ("produce_one_async"),
    ),
    Fault(
        "a consumer's iterator starts a lap late: its parity is swapped",
        GEMM,
        in_agent(
            1,
            all_of(
                replacing("%j0 = ", "%x0 = "),
                after(
                    "%x0 = ",
                    *_LAP,
                    "    %j0 = nv_tileas.async.pipeline.inc_iter %x2 : !iter -> !iter",
                ),
            ),
        ),
        ("agent 1", "parity 1"),
        ("consume_one",),
    ),
    Fault(
        "fewer bytes announced than come",
        GEMM,
        replacing(
            "{producer_types = [!a, !b]}", "{producer_types = [!a, !b], tx_count = 2048 : i32}"
        ),
        ("agent 0", "2048 bytes", "full[0]"),
        ("tiled_tma_load", "producer_commit"),
    ),
    Fault(
        "more bytes announced than come",
        GEMM,
        replacing(
            "{producer_types = [!a, !b]}", "{producer_types = [!a, !b], tx_count = 8192 : i32}"
        ),
        ("agent 0", "8192 bytes", "full[0]"),
        ("tiled_tma_load", "producer_commit"),
    ),
    Fault(
        "a load announces fewer bytes than it delivers",
        GEMM,
        replacing("tx_count = 2048", "tx_count = 2032"),
        ("16 bytes more than were announced on full[",),
        ("tiled_tma_load",),
        refused="tx_count is 2032, but the tile has 2048 bytes",
    ),
    Fault(
        "a load announces more bytes than it delivers: bytes are missing",
        GEMM,
        replacing("tx_count = 2048", "tx_count = 4096"),
        ("deadlock", "agent 1 waits for", "full[0] of %p0 misses 2048 bytes"),
        ("consume_one",),
        refused="tx_count is 4096, but the tile has 2048 bytes",
    ),
    Fault(
        "a load dropped: memory that nobody wrote is read",
        GEMM,
        without("%lb = "),
        ("nobody wrote",),
        ("async.dot",),
    ),
    Fault(
        "released before the product has finished",
        STEPS,
        in_agent(1, swapping("%after = ", "%t3 = ")),
        ("agent 1", "stage 0", "release"),
        ("consumer_release",),
    ),
    Fault(
        "the body of consume_one ends before the product has finished",
        GEMM,
        in_agent(
            1,
            all_of(
                replacing("(!cons, !acc) {", "(!cons, !sum) {"),
                replacing("%t1, %after = ", "%t1, %dot = "),
                replacing("%dot = nv_tileas.async.dot", "%started = nv_tileas.async.dot"),
                without("%done = "),
                replacing("yield %done : !acc", "yield %started : !sum"),
                before("%j1 = ", "      %after = nv_tileas.async.wait %dot : !sum -> !acc"),
            ),
        ),
        ("agent 1", "stage 0", "release"),
        ("consume_one", "yield"),
    ),
    Fault(
        "two producers",
        GEMM,
        _second_agent_produces,
        ("agent 0", "agent 2"),
        ("produce_one_async",),
    ),
    Fault(
        "a producer token used twice",
        GEMM,
        in_agent(0, replacing("yield %p2", "yield %p")),
        ("agent 0", "token"),
        ("produce_one_async", "scf.yield"),
    ),
    Fault(
        "a consumer token used twice",
        STEPS,
        in_agent(1, replacing("yield %t3", "yield %t")),
        ("agent 1", "token"),
        ("consumer_wait", "scf.yield"),
    ),
    Fault(
        "a stage used after it was released",
        STEPS,
        in_agent(1, _USE_AFTER_RELEASE),
        ("stage 0",),
        ("async.dot",),
    ),
    Fault(
        "commit dropped",
        STEPS,
        in_agent(0, all_of(without("producer_commit"), replacing("yield %p3", "yield %p2"))),
        ("agent 0",),
        ("producer_acquire", "consumer_wait"),
    ),
    Fault(
        "release dropped: an arrival is missing",
        STEPS,
        in_agent(1, all_of(without("consumer_release"), replacing("yield %t3", "yield %t2"))),
        ("agent 1",),
        ("producer_acquire", "consumer_wait", "consumer_read"),
    ),
    Fault(
        "the producer stops a tile early: an arrival is missing",
        GEMM,
        in_agent(
            0,
            all_of(
                before("%i0 = ", "    %fewer = arith.subi %tiles, %one : index"),
                replacing("to %tiles", "to %fewer"),
            ),
        ),
        ("deadlock", "agent 1 waits for", "agent 2 waits for", "full", "1 of 1 arrivals"),
        ("consume_one",),
    ),
    Fault(
        "the consumer's iterator stays where it is",
        STEPS,
        in_agent(1, all_of(without("inc_iter"), replacing("%t3, %j1", "%t3, %j"))),
        ("agent 1", "stage 0"),
        ("consumer_wait",),
    ),
    Fault(
        "the producer's iterator stays where it is",
        STEPS,
        in_agent(0, all_of(without("inc_iter"), replacing("%p3, %i1", "%p3, %i"))),
        ("agent 0", "stage 0"),
        ("producer_acquire",),
    ),
    Fault(
        "two consumers say that they are consumer 0",
        GEMM,
        replacing("consumer_idx = 1", "consumer_idx = 0"),
        ("waits", "of %p0"),
        ("consume_one",),
    ),
    Fault(
        "a tile is written again before the TMA store has read it",
        STAGED,
        in_agent(1, without("nv_tileas.async.wait %storing")),
        ("agent 1", "stores", "nothing orders"),
        ("tiled_store", "tiled_tma_store"),
    ),
    Fault(
        "a stage released before the TMA store has read it",
        COPY,
        without("nv_tileas.async.wait %stored"),
        ("stage 0", "release"),
        ("consume_one", "yield"),
    ),
    Fault(
        "a tile read before the TMA load into it was waited for",
        COPY,
        before("// The first tile.", *_LOADED_ASIDE),
        ("%aside",),
        ("tiled_tma_store",),
    ),
    Fault(
        "two agents share a buffer, and nothing orders them",
        STAGED,
        all_of(
            without("%memory = ", times=2),
            before(
                "agent_switch",
                "  %memory = nv_tileas.alloc_tensor : tensor<16x16xf32, #nv_tileas<space smem>>",
            ),
        ),
        ("agent 1", "agent 2", "nothing orders"),
        ("tiled_store", "tiled_tma_store"),
    ),
    Fault(
        "two agents write the same rows of the result",
        GEMM,
        in_agent(2, replacing("%first_row = arith.constant 16", "%first_row = arith.constant 0")),
        ("agent 1", "agent 2", "nothing orders"),
        ("tiled_store",),
    ),
    Fault(
        "two blocks write the same tile",
        ADD,
        replacing("arith.muli %block, %size", "arith.muli %zero, %size"),
        ("block (0, 0, 0)", "block (1, 0, 0)"),
        ("tiled_store",),
    ),
    Fault(
        "memory that nobody wrote is stored",
        STAGED,
        in_agent(1, without("nv_tileas.tiled_store")),
        ("nobody wrote",),
        ("tiled_tma_store",),
    ),
    Fault(
        "a load leaves bounds that it promises to keep",
        ADD,
        replacing(
            "in_bounds = array<i1: false>, padding_value = 0.0 : f32", "in_bounds = array<i1: true>"
        ),
        ("bounds",),
        ("tiled_load",),
    ),
    Fault(
        "a store leaves bounds that it promises to keep",
        ADD,
        replacing("{atom = #stg}", "{atom = #stg, in_bounds = array<i1: true>}"),
        ("bounds",),
        ("tiled_store",),
    ),
    Fault(
        "both blocks of a cluster load the same half",
        CLUSTER,
        replacing("arith.remui %n, %two", "arith.remui %n, %one"),
        ("block (0, 0, 0) TMA", "block (1, 0, 0) TMA", "nothing orders"),
        ("tiled_tma_load",),
    ),
    Fault(
        "one block of a cluster never releases",
        CLUSTER,
        in_agent(
            1,
            all_of(
                replacing(
                    "%t3 = nv_tileas.async.pipeline.consumer_release %t2 : !cons -> !cons",
                    "%rank = arith.remui %n, %two : index\n"
                    "      %is_first = arith.cmpi eq, %rank, %zero : index\n"
                    "      %t3 = scf.if %is_first -> (!cons) {\n"
                    "        %t4 = nv_tileas.async.pipeline.consumer_release %t2 : !cons -> !cons\n"
                    "        scf.yield %t4 : !cons\n"
                    "      } else {\n"
                    "        scf.yield %t2 : !cons\n"
                    "      }",
                ),
            ),
        ),
        ("agent 1",),
        ("producer_acquire", "consumer_wait"),
    ),
)
