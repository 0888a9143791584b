"""A kernel written with the constructors of `ptx`: one 64x64 tile of A * B^T by one warpgroup.

bf16 in, f32 out, K a multiple of 64.  A and B lie in shared memory as TMA writes them, rows of 128
bytes, swizzled; a full barrier takes the bytes of both.
"""

from support.assembling import Body
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block

from tileas_xdsl.dialects.ptx import (
    AddOp,
    AddressOp,
    AndOp,
    BarSyncOp,
    BraOp,
    CondBraOp,
    CvtaOp,
    CvtOp,
    EntryOp,
    FenceMbarrierInitOp,
    LdParamOp,
    MadOp,
    MbarrierArriveExpectTxOp,
    MbarrierInitOp,
    MbarrierWaitOp,
    MulOp,
    OrOp,
    ParamAddressOp,
    PrefetchTensormapOp,
    RetOp,
    SetpOp,
    SharedOp,
    ShlOp,
    ShrOp,
    SregOp,
    StOp,
    TensorLoadOp,
    UndefOp,
    UnpackOp,
    WgmmaCommitOp,
    WgmmaFenceOp,
    WgmmaOp,
    WgmmaWaitOp,
    XorOp,
    param,
    reg,
)

TILE_BYTES = 64 * 64 * 2
K_MAJOR_128B = 0x4000004000010000
"""A matrix descriptor with a zero address field."""


def one_tile_gemm() -> ModuleOp:
    """Return the module of kernel `gemm` with parameters: maps of A and B, C, its row length, K."""
    entry = EntryOp(
        "gemm",
        [param("b8", 128, 64), param("b8", 128, 64), param("u64"), param("u32"), param("u32")],
        parameter_names=["tmA", "tmB", "pC", "pLdc", "pK"],
        maxntid=(128, 1, 1),
    )
    blocks = {name: Block() for name in ("init", "ready")}
    word = reg("b32")
    loop = Block(arg_types=[word, word, reg("f32", 32)])
    issue, wait, store = Block(), Block(), Block()
    for block in (*blocks.values(), loop, issue, wait, store):
        entry.body.add_block(block)

    start = Body(entry.entry_block)
    shared = _prologue(start, entry, blocks)
    init = Body(blocks["init"])
    init(MbarrierInitOp(shared["full"], init.const(1)))
    init(FenceMbarrierInitOp())
    init(PrefetchTensormapOp(shared["map_a"]))
    init(PrefetchTensormapOp(shared["map_b"]))
    init(BraOp(blocks["ready"]))

    ready = Body(blocks["ready"])
    ready(BarSyncOp(ready.const(0)))
    shared["desc_a"] = _descriptor(ready, shared["a"])
    shared["desc_b"] = _descriptor(ready, shared["b"])
    zero = ready.const(0)
    ready(BraOp(loop, zero, zero, ready(UndefOp("f32", 32))))

    k, phase, accumulator = loop.args
    head = Body(loop)
    head(CondBraOp(shared["leader"], issue, [], wait, []))
    _issue(Body(issue), shared, k)
    issue.add_op(BraOp(wait))
    _multiply(Body(wait), shared, (k, phase, accumulator), loop, store)
    _store(Body(store), shared, wait)
    return ModuleOp([SharedOp("dsmem", align=1024, extern=True), entry])


def _prologue(b, entry, blocks):
    maps_and_scalars = entry.parameters
    tid = b(SregOp("tid.x"))
    a = b(AddressOp("dsmem"))
    values = {
        "tid": tid,
        "a": a,
        "b": b(AddOp(a, b.const(TILE_BYTES), "u32")),
        "full": b(AddOp(a, b.const(2 * TILE_BYTES), "u32")),
        "map_a": b(ParamAddressOp(maps_and_scalars[0])),
        "map_b": b(ParamAddressOp(maps_and_scalars[1])),
        "c": b(CvtaOp(b(LdParamOp(maps_and_scalars[2], "u64")), "global", to=True)),
        "ldc": b(LdParamOp(maps_and_scalars[3], "u32")),
        "k": b(LdParamOp(maps_and_scalars[4], "u32")),
        "leader": b(SetpOp(tid, b.const(0), "eq", "u32")),
    }
    b(CondBraOp(values["leader"], blocks["init"], [], blocks["ready"], []))
    return values


def _descriptor(b, address):
    field = b(AndOp(b(ShrOp(address, b.const(4), "u32")), b.const(0x3FFF), "b32"))
    return b(OrOp(b(CvtOp(field, "u64", "u32")), b.const(K_MAJOR_128B, "b64"), "b64"))


def _issue(b, shared, k):
    b(MbarrierArriveExpectTxOp(shared["full"], b.const(2 * TILE_BYTES)))
    zero = b.const(0)
    b(TensorLoadOp(shared["a"], shared["map_a"], shared["full"], [k, zero]))
    b(TensorLoadOp(shared["b"], shared["map_b"], shared["full"], [k, zero]))


def _multiply(b, shared, carried, loop, store):
    k, phase, accumulator = carried
    b(MbarrierWaitOp(shared["full"], phase))
    phase = b(XorOp(phase, b.const(1), "b32"))
    adds = b(SetpOp(k, b.const(0), "ne", "u32"))
    b(WgmmaFenceOp())
    for step in range(4):
        offset = b.const(2 * step, "b64")
        desc_a = b(AddOp(shared["desc_a"], offset, "u64")) if step else shared["desc_a"]
        desc_b = b(AddOp(shared["desc_b"], offset, "u64")) if step else shared["desc_b"]
        scale = b.const(1, "pred") if step else adds
        accumulator = b(WgmmaOp(accumulator, desc_a, desc_b, scale, "f32", "bf16"))
    b(WgmmaCommitOp())
    done = b(WgmmaWaitOp(0, [accumulator])).results[0]
    b(BarSyncOp(b.const(0)))
    k = b(AddOp(k, b.const(64), "u32"))
    more = b(SetpOp(k, shared["k"], "lt", "u32"))
    b(CondBraOp(more, loop, [k, phase, done], store, []))
    shared["done"] = done


def _store(b, shared, _):
    tid, ldc = shared["tid"], shared["ldc"]
    lane = b(AndOp(tid, b.const(31), "b32"))
    row = b(ShlOp(b(ShrOp(tid, b.const(5), "u32")), b.const(4), "b32"))
    row = b(AddOp(row, b(ShrOp(lane, b.const(2), "u32")), "u32"))
    column = b(ShlOp(b(AndOp(lane, b.const(3), "b32")), b.const(1), "b32"))
    index = b(MadOp(row, ldc, column, "u32", mode="lo"))
    first = b(AddOp(shared["c"], b(MulOp(index, b.const(4), "u32", mode="wide")), "u64"))
    rows = b(CvtOp(b(ShlOp(ldc, b.const(5), "b32")), "u64", "u32"))
    second = b(AddOp(first, rows, "u64"))
    pairs = b(UnpackOp(shared["done"], 2)).results
    for index, pair in enumerate(pairs):
        place = second if index % 2 else first
        b(StOp(place, pair, "f32", "global", offset=32 * (index // 2)))
    b(RetOp())
