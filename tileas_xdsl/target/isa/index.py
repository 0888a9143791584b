"""The instructions of the PTX ISA by its own sections, also those that the table has no form of.

Source: PTX ISA 9.0, contents of 9.7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_VIDEO = ("vadd", "vsub", "vabsdiff", "vmin", "vmax")
_SIMD = ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset")

_SECTIONS = {
    "Integer arithmetic": "add sub mul mad mul24 mad24 sad div rem abs neg min max popc clz bfind"
    " fns brev bfe bfi bmsk szext dp4a dp2a",
    "Extended precision": "add.cc addc sub.cc subc mad.cc madc",
    "Floating point": "testp copysign fma rcp sqrt rsqrt sin cos lg2 ex2 tanh",
    "Comparison and selection": "set setp selp slct",
    "Logic and shift": "and or xor not cnot lop3 shf shl shr",
    "Data movement and conversion": "mov shfl.sync prmt ld ld.global.nc ldu st st.async st.bulk"
    " multimem.ld_reduce multimem.st multimem.red prefetch prefetchu applypriority discard"
    " createpolicy isspacep cvta cvt cvt.pack mapa getctarank",
    "Asynchronous copies": "cp.async cp.async.commit_group cp.async.wait_group cp.async.wait_all"
    " cp.async.bulk cp.reduce.async.bulk cp.async.bulk.prefetch multimem.cp.async.bulk"
    " multimem.cp.reduce.async.bulk cp.async.bulk.tensor cp.reduce.async.bulk.tensor"
    " cp.async.bulk.prefetch.tensor cp.async.bulk.commit_group cp.async.bulk.wait_group"
    " tensormap.replace",
    "Textures and surfaces": "tex tld4 txq istypep suld sust sured suq",
    "Control flow": "bra brx.idx call ret exit",
    "Synchronisation": "bar barrier bar.warp.sync barrier.cluster membar fence atom red red.async"
    " vote.sync match.any.sync match.all.sync activemask redux.sync griddepcontrol elect.sync"
    " mbarrier.init mbarrier.inval mbarrier.expect_tx mbarrier.complete_tx mbarrier.arrive"
    " mbarrier.arrive_drop cp.async.mbarrier.arrive mbarrier.test_wait mbarrier.try_wait"
    " mbarrier.pending_count tensormap.cp_fenceproxy clusterlaunchcontrol.try_cancel"
    " clusterlaunchcontrol.query_cancel",
    "Matrices of a warp": "wmma.load wmma.store wmma.mma mma mma.sp ldmatrix stmatrix movmatrix",
    "Matrices of a warpgroup": "wgmma.mma_async wgmma.mma_async.sp wgmma.fence wgmma.commit_group"
    " wgmma.wait_group",
    "Tensor memory": "tcgen05.alloc tcgen05.dealloc tcgen05.relinquish_alloc_permit tcgen05.ld"
    " tcgen05.ld.red tcgen05.st tcgen05.wait tcgen05.cp tcgen05.shift tcgen05.mma tcgen05.mma.sp"
    " tcgen05.mma.ws tcgen05.mma.ws.sp tcgen05.fence tcgen05.commit",
    "Stack": "stacksave stackrestore alloca",
    "Video": " ".join((*_VIDEO, "vshl", "vshr", "vmad", "vset", *(f"{n}2" for n in _SIMD),
                       *(f"{n}4" for n in _SIMD))),
    "Miscellaneous": "brkpt nanosleep pmevent trap setmaxnreg",
}  # fmt: skip

INSTRUCTIONS: Mapping[str, tuple[str, ...]] = {
    section: tuple(names.split()) for section, names in _SECTIONS.items()
}
"""By section, the instructions by the words that set them apart."""


def is_named(parts: Sequence[str], name: str) -> bool:
    """Return whether an opcode has the words of a name, as `tcgen05.wait::ld` of `tcgen05.wait`."""
    mnemonic, *words = name.split(".")
    return parts[0] == mnemonic and all(
        any(part == word or part.startswith(f"{word}::") for part in parts[1:]) for word in words
    )
