"""The dialect of PTX: one operation per family of instructions, registers and tuples as values.

A value is a per-thread register or a tuple of registers of one kind; an operation on tuples is one
operation that prints an instruction per register.  Tuples are cut and put together for free
(`UnpackOp`, `ExtractOp`, `PackOp`).  `ConstOp` is an operand's literal.

Operations by file:

arith: AbsOp, NegOp, NotOp, PopcOp, ClzOp, BrevOp, SqrtOp, RcpOp, RsqrtOp, Ex2Op, Lg2Op, SinOp,
    CosOp, TanhOp, AddOp, SubOp, MulOp, DivOp, RemOp, MinOp, MaxOp, AndOp, OrOp, XorOp, ShlOp,
    ShrOp, MadOp, FmaOp, BfeOp, PrmtOp
bits: BfiOp, Lop3Op, ShfOp
async_copy: CpAsyncOp, CpAsyncCommitOp, CpAsyncWaitOp, CpAsyncMbarrierArriveOp
atomics: AtomOp, RedOp, TensormapReplaceOp, TensormapCpFenceproxyOp
barriers: BarSyncOp, BarArriveOp, BarRedOp, BarWarpSyncOp, ClusterArriveOp, ClusterWaitOp, FenceOp,
    FenceProxyOp, FenceProxyTensormapOp, FenceMbarrierInitOp
bulk: CpAsyncBulkOp, CpReduceAsyncBulkOp, CpAsyncBulkPrefetchOp, BulkCommitOp, BulkWaitOp
calls: CallOp, LocalOp
compare: SetpOp, SelpOp, CvtOp, CvtPackOp
control: EntryOp, SharedOp, BraOp, CondBraOp, RetOp, ExitOp
declarations: GlobalOp, FunctionOp
matrix: LdmatrixOp, StmatrixOp, PrefetchOp, CreatepolicyOp
mbarrier: MbarrierInitOp, MbarrierInvalOp, MbarrierArriveOp, MbarrierArriveExpectTxOp,
    MbarrierExpectTxOp, MbarrierCompleteTxOp, MbarrierTestWaitOp, MbarrierTryWaitOp, MbarrierWaitOp,
    MbarrierPendingCountOp
memory: LdOp, StOp
special: SregOp, AddressOp, LdParamOp, ParamAddressOp, CvtaOp
tcgen05: Tcgen05AllocOp, Tcgen05DeallocOp, Tcgen05RelinquishOp, Tcgen05LdOp, Tcgen05StOp,
    Tcgen05WaitOp, Tcgen05FenceOp, Tcgen05CommitOp
tcgen05_mma: Tcgen05CpOp, Tcgen05ShiftOp, Tcgen05MmaOp
tensor: TensorLoadOp, TensorStoreOp, TensorReduceOp, TensorPrefetchOp, PrefetchTensormapOp
values: ConstOp, UndefOp, PackOp, ExtractOp, UnpackOp, MovOp, JoinOp, SplitOp
warp: MapaOp, GetctarankOp, ElectSyncOp, ShflOp, VoteOp, MatchOp, ReduxOp, ActivemaskOp,
    SetmaxnregOp, NanosleepOp, GriddepcontrolOp, TrapOp
wgmma: WgmmaFenceOp, WgmmaCommitOp, WgmmaWaitOp, WgmmaOp, MmaOp
"""

from xdsl.ir import Dialect

from tileas_xdsl.dialects.ptx import (
    arith,
    async_copy,
    atomics,
    barriers,
    bits,
    bulk,
    calls,
    compare,
    control,
    declarations,
    matrix,
    mbarrier,
    memory,
    special,
    tcgen05,
    tcgen05_mma,
    tensor,
    values,
    warp,
    wgmma,
)
from tileas_xdsl.dialects.ptx.arith import (
    AbsOp,
    AddOp,
    AndOp,
    BfeOp,
    BrevOp,
    ClzOp,
    CosOp,
    DivOp,
    Ex2Op,
    FmaOp,
    Lg2Op,
    MadOp,
    MaxOp,
    MinOp,
    MulOp,
    NegOp,
    NotOp,
    OrOp,
    PopcOp,
    PrmtOp,
    RcpOp,
    RemOp,
    RsqrtOp,
    ShlOp,
    ShrOp,
    SinOp,
    SqrtOp,
    SubOp,
    TanhOp,
    XorOp,
)
from tileas_xdsl.dialects.ptx.async_copy import (
    CpAsyncCommitOp,
    CpAsyncMbarrierArriveOp,
    CpAsyncOp,
    CpAsyncWaitOp,
)
from tileas_xdsl.dialects.ptx.atomics import (
    AtomOp,
    RedOp,
    TensormapCpFenceproxyOp,
    TensormapReplaceOp,
)
from tileas_xdsl.dialects.ptx.barriers import (
    BarArriveOp,
    BarRedOp,
    BarSyncOp,
    BarWarpSyncOp,
    ClusterArriveOp,
    ClusterWaitOp,
    FenceMbarrierInitOp,
    FenceOp,
    FenceProxyOp,
    FenceProxyTensormapOp,
)
from tileas_xdsl.dialects.ptx.bits import BfiOp, Lop3Op, ShfOp
from tileas_xdsl.dialects.ptx.bulk import (
    BulkCommitOp,
    BulkWaitOp,
    CpAsyncBulkOp,
    CpAsyncBulkPrefetchOp,
    CpReduceAsyncBulkOp,
)
from tileas_xdsl.dialects.ptx.calls import CallOp, LocalOp
from tileas_xdsl.dialects.ptx.compare import (
    CvtOp,
    CvtPackOp,
    SelpOp,
    SetpOp,
)
from tileas_xdsl.dialects.ptx.control import (
    BraOp,
    CondBraOp,
    EntryOp,
    ExitOp,
    RetOp,
    SharedOp,
)
from tileas_xdsl.dialects.ptx.declarations import FunctionOp, GlobalOp
from tileas_xdsl.dialects.ptx.matrix import (
    CreatepolicyOp,
    LdmatrixOp,
    PrefetchOp,
    StmatrixOp,
)
from tileas_xdsl.dialects.ptx.mbarrier import (
    MbarrierArriveExpectTxOp,
    MbarrierArriveOp,
    MbarrierCompleteTxOp,
    MbarrierExpectTxOp,
    MbarrierInitOp,
    MbarrierInvalOp,
    MbarrierPendingCountOp,
    MbarrierTestWaitOp,
    MbarrierTryWaitOp,
    MbarrierWaitOp,
)
from tileas_xdsl.dialects.ptx.memory import (
    LdOp,
    StOp,
)
from tileas_xdsl.dialects.ptx.special import (
    AddressOp,
    CvtaOp,
    LdParamOp,
    ParamAddressOp,
    SregOp,
)
from tileas_xdsl.dialects.ptx.tcgen05 import (
    Tcgen05AllocOp,
    Tcgen05CommitOp,
    Tcgen05DeallocOp,
    Tcgen05FenceOp,
    Tcgen05LdOp,
    Tcgen05RelinquishOp,
    Tcgen05StOp,
    Tcgen05WaitOp,
)
from tileas_xdsl.dialects.ptx.tcgen05_mma import Tcgen05CpOp, Tcgen05MmaOp, Tcgen05ShiftOp
from tileas_xdsl.dialects.ptx.tensor import (
    PrefetchTensormapOp,
    TensorLoadOp,
    TensorPrefetchOp,
    TensorReduceOp,
    TensorStoreOp,
)
from tileas_xdsl.dialects.ptx.types import ParamType, RegType, param, reg
from tileas_xdsl.dialects.ptx.values import (
    ConstOp,
    ExtractOp,
    JoinOp,
    MovOp,
    PackOp,
    SplitOp,
    UndefOp,
    UnpackOp,
)
from tileas_xdsl.dialects.ptx.warp import (
    ActivemaskOp,
    ElectSyncOp,
    GetctarankOp,
    GriddepcontrolOp,
    MapaOp,
    MatchOp,
    NanosleepOp,
    ReduxOp,
    SetmaxnregOp,
    ShflOp,
    TrapOp,
    VoteOp,
)
from tileas_xdsl.dialects.ptx.wgmma import (
    MmaOp,
    WgmmaCommitOp,
    WgmmaFenceOp,
    WgmmaOp,
    WgmmaWaitOp,
)

FAMILIES = (
    arith,
    async_copy,
    atomics,
    barriers,
    bits,
    bulk,
    calls,
    compare,
    control,
    declarations,
    matrix,
    mbarrier,
    memory,
    special,
    tcgen05,
    tcgen05_mma,
    tensor,
    values,
    warp,
    wgmma,
)

Ptx = Dialect(
    "ptx",
    [op for family in FAMILIES for op in family.OPERATIONS],
    [ParamType, RegType],
)

__all__ = [
    "FAMILIES",
    "AbsOp",
    "ActivemaskOp",
    "AddOp",
    "AddressOp",
    "AndOp",
    "AtomOp",
    "BarArriveOp",
    "BarRedOp",
    "BarSyncOp",
    "BarWarpSyncOp",
    "BfeOp",
    "BfiOp",
    "BraOp",
    "BrevOp",
    "BulkCommitOp",
    "BulkWaitOp",
    "CallOp",
    "ClusterArriveOp",
    "ClusterWaitOp",
    "ClzOp",
    "CondBraOp",
    "ConstOp",
    "CosOp",
    "CpAsyncBulkOp",
    "CpAsyncBulkPrefetchOp",
    "CpAsyncCommitOp",
    "CpAsyncMbarrierArriveOp",
    "CpAsyncOp",
    "CpAsyncWaitOp",
    "CpReduceAsyncBulkOp",
    "CreatepolicyOp",
    "CvtOp",
    "CvtPackOp",
    "CvtaOp",
    "DivOp",
    "ElectSyncOp",
    "EntryOp",
    "Ex2Op",
    "ExitOp",
    "ExtractOp",
    "FenceMbarrierInitOp",
    "FenceOp",
    "FenceProxyOp",
    "FenceProxyTensormapOp",
    "FmaOp",
    "FunctionOp",
    "GetctarankOp",
    "GlobalOp",
    "GriddepcontrolOp",
    "JoinOp",
    "LdOp",
    "LdParamOp",
    "LdmatrixOp",
    "Lg2Op",
    "LocalOp",
    "Lop3Op",
    "MadOp",
    "MapaOp",
    "MatchOp",
    "MaxOp",
    "MbarrierArriveExpectTxOp",
    "MbarrierArriveOp",
    "MbarrierCompleteTxOp",
    "MbarrierExpectTxOp",
    "MbarrierInitOp",
    "MbarrierInvalOp",
    "MbarrierPendingCountOp",
    "MbarrierTestWaitOp",
    "MbarrierTryWaitOp",
    "MbarrierWaitOp",
    "MinOp",
    "MmaOp",
    "MovOp",
    "MulOp",
    "NanosleepOp",
    "NegOp",
    "NotOp",
    "OrOp",
    "PackOp",
    "ParamAddressOp",
    "ParamType",
    "PopcOp",
    "PrefetchOp",
    "PrefetchTensormapOp",
    "PrmtOp",
    "Ptx",
    "RcpOp",
    "RedOp",
    "ReduxOp",
    "RegType",
    "RemOp",
    "RetOp",
    "RsqrtOp",
    "SelpOp",
    "SetmaxnregOp",
    "SetpOp",
    "SharedOp",
    "ShfOp",
    "ShflOp",
    "ShlOp",
    "ShrOp",
    "SinOp",
    "SplitOp",
    "SqrtOp",
    "SregOp",
    "StOp",
    "StmatrixOp",
    "SubOp",
    "TanhOp",
    "Tcgen05AllocOp",
    "Tcgen05CommitOp",
    "Tcgen05CpOp",
    "Tcgen05DeallocOp",
    "Tcgen05FenceOp",
    "Tcgen05LdOp",
    "Tcgen05MmaOp",
    "Tcgen05RelinquishOp",
    "Tcgen05ShiftOp",
    "Tcgen05StOp",
    "Tcgen05WaitOp",
    "TensorLoadOp",
    "TensorPrefetchOp",
    "TensorReduceOp",
    "TensorStoreOp",
    "TensormapCpFenceproxyOp",
    "TensormapReplaceOp",
    "TrapOp",
    "UndefOp",
    "UnpackOp",
    "VoteOp",
    "WgmmaCommitOp",
    "WgmmaFenceOp",
    "WgmmaOp",
    "WgmmaWaitOp",
    "XorOp",
    "param",
    "reg",
]
