"""The dialect of PTX: one operation per family of instructions, registers and tuples as values.

A value is a per-thread register or a tuple of registers of one kind; an operation on tuples is one
operation that prints an instruction per register.  Tuples are cut and put together for free
(`UnpackOp`, `ExtractOp`, `PackOp`).  `ConstOp` is an operand's literal.

The operations of a module are the operation classes that it defines; all of them are names of this
package (`ptx.AddOp`).  Which instructions they may print is stated in `target/isa/`.
"""

from typing import TYPE_CHECKING

from tileas_xdsl.dialects.ptx.types import ParamType as ParamType
from tileas_xdsl.dialects.ptx.types import RegType as RegType
from tileas_xdsl.dialects.ptx.types import param as param
from tileas_xdsl.dialects.ptx.types import reg as reg
from tileas_xdsl.dialects.registry import dialect_of, names_of

if TYPE_CHECKING:
    from tileas_xdsl.dialects.ptx.dot.mma_scaled import *
    from tileas_xdsl.dialects.ptx.dot.mma_sparse import *
    from tileas_xdsl.dialects.ptx.dot.tcgen05 import *
    from tileas_xdsl.dialects.ptx.dot.tcgen05_mma import *
    from tileas_xdsl.dialects.ptx.dot.warp_matrix import *
    from tileas_xdsl.dialects.ptx.dot.wgmma import *
    from tileas_xdsl.dialects.ptx.elementwise.arith import *
    from tileas_xdsl.dialects.ptx.elementwise.bits import *
    from tileas_xdsl.dialects.ptx.elementwise.compare import *
    from tileas_xdsl.dialects.ptx.elementwise.values import *
    from tileas_xdsl.dialects.ptx.memory.accesses import *
    from tileas_xdsl.dialects.ptx.memory.async_copy import *
    from tileas_xdsl.dialects.ptx.memory.atomics import *
    from tileas_xdsl.dialects.ptx.memory.bulk import *
    from tileas_xdsl.dialects.ptx.memory.tensor import *
    from tileas_xdsl.dialects.ptx.special import *
    from tileas_xdsl.dialects.ptx.structure.calls import *
    from tileas_xdsl.dialects.ptx.structure.control import *
    from tileas_xdsl.dialects.ptx.structure.declarations import *
    from tileas_xdsl.dialects.ptx.structure.entries import *
    from tileas_xdsl.dialects.ptx.synchronisation.barriers import *
    from tileas_xdsl.dialects.ptx.synchronisation.launch_control import *
    from tileas_xdsl.dialects.ptx.synchronisation.mbarrier import *
    from tileas_xdsl.dialects.ptx.synchronisation.warp import *
else:
    __getattr__ = names_of(
        __name__,
        {
            "dot.mma_scaled": "MmaScaledOp",
            "dot.mma_sparse": "MmaSparseOp",
            "dot.tcgen05": (
                "Tcgen05AllocOp Tcgen05CommitOp Tcgen05DeallocOp Tcgen05FenceOp Tcgen05LdOp "
                "Tcgen05RelinquishOp Tcgen05StOp Tcgen05WaitOp"
            ),
            "dot.tcgen05_mma": "Tcgen05CpOp Tcgen05MmaOp Tcgen05ShiftOp",
            "dot.warp_matrix": "CreatepolicyOp LdmatrixOp PrefetchOp StmatrixOp",
            "dot.wgmma": "MmaOp WgmmaCommitOp WgmmaFenceOp WgmmaOp WgmmaWaitOp WordOp",
            "elementwise.arith": (
                "AbsOp AddMixedOp AddOp AndOp ArithmeticOp BfeOp BinaryOp BrevOp ClzOp CopysignOp "
                "CosOp DivOp Ex2Op FmaMixedOp FmaOp Lg2Op MadOp MaxOp MinOp MixedOp MulOp NegOp "
                "NotOp OrOp PopcOp PrmtOp RcpOp RemOp RsqrtOp ShlOp ShrOp SinOp SqrtOp SubOp "
                "TanhOp TernaryOp UnaryOp XorOp"
            ),
            "elementwise.bits": "BfiOp Lop3Op ShfOp",
            "elementwise.compare": "CvtOp CvtPackOp SelpOp SetpOp",
            "elementwise.values": "ConstOp ExtractOp JoinOp MovOp PackOp SplitOp UndefOp UnpackOp",
            "memory.accesses": "AccessOp LdOp StOp",
            "memory.async_copy": "CpAsyncCommitOp CpAsyncMbarrierArriveOp CpAsyncOp CpAsyncWaitOp",
            "memory.atomics": "AtomOp RedOp TensormapCpFenceproxyOp TensormapReplaceOp UpdateOp",
            "memory.bulk": (
                "BulkCommitOp BulkWaitOp CpAsyncBulkOp CpAsyncBulkPrefetchOp CpReduceAsyncBulkOp"
            ),
            "memory.tensor": (
                "FromSharedOp PrefetchTensormapOp TensorLoadOp TensorOp TensorPrefetchOp "
                "TensorReduceOp TensorStoreOp"
            ),
            "special": "AddressOp CvtaOp LdParamOp ParamAddressOp SregOp",
            "structure.calls": "CallOp LocalOp",
            "structure.control": "BraOp CondBraOp EndOp ExitOp RetOp",
            "structure.declarations": "DeclarationOp FunctionOp GlobalOp",
            "structure.entries": "EntryOp SharedOp SymbolOp",
            "synchronisation.barriers": (
                "BarArriveOp BarRedOp BarSyncOp BarWarpSyncOp ClusterArriveOp ClusterBarrierOp "
                "ClusterWaitOp FenceMbarrierInitOp FenceOp FenceProxyOp FenceProxyTensormapOp"
            ),
            "synchronisation.launch_control": "QueryCancelOp TryCancelOp",
            "synchronisation.mbarrier": (
                "MbarrierArriveExpectTxOp MbarrierArriveOp MbarrierCompleteTxOp MbarrierExpectTxOp "
                "MbarrierInitOp MbarrierInvalOp MbarrierPendingCountOp MbarrierTestWaitOp "
                "MbarrierTryWaitOp MbarrierWaitOp PhaseOp SynchronizingOp TransactionOp"
            ),
            "synchronisation.warp": (
                "ActivemaskOp ElectSyncOp GetctarankOp GriddepcontrolOp MapaOp MatchOp NanosleepOp "
                "ReduxOp SetmaxnregOp ShflOp TrapOp VoteOp"
            ),
        },
    )

Ptx = dialect_of(__name__, "ptx")
