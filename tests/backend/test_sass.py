"""Machine code: what a loop executes."""

from support.assembling import needs_nvdisasm, needs_ptxas

from tests.backend.ptx_gemm import one_tile_gemm
from tileas_xdsl.backend.ptx.printer import ptx_text
from tileas_xdsl.backend.ptxas import assemble
from tileas_xdsl.backend.sass import disassemble, parse_sass

LISTING = """\
\t.section\t.text.k,"ax",@progbits
.text.k:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
.L_x_0:
        /*0010*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2], R3 ;
        /*0020*/              @!P0 BRA `(.L_x_2) ;
.L_x_1:
        /*0030*/                   HGMMA.64x256x16.F32.BF16 R24, gdesc[UR4], R24 ;
        /*0040*/                   HGMMA.64x256x16.F32.BF16 R24, gdesc[UR8], R24 ;
        /*0050*/               @P1 BRA `(.L_x_0) ;
        /*0060*/                   EXIT ;
.L_x_2:
        /*0070*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2], R3 ;
        /*0080*/              @!P0 BRA `(.L_x_2) ;
        /*0090*/                   BRA `(.L_x_1) ;
$k$slowpath:
        /*00a0*/              @!P0 BRA `(.L_x_4) ;
        /*00b0*/                   FADD R0, R0, R1 ;
.L_x_4:
        /*00c0*/                   RET.REL.NODEC R8 `(k) ;
.L_x_3:
        /*00d0*/                   BRA `(.L_x_3);
"""


def test_loops_of_a_listing():
    """The wait out of line belongs to the loop; subroutines and the padding have none."""
    kernel = parse_sass(LISTING)["k"]
    waiting, main = kernel.loops
    assert (waiting.start, waiting.inner, len(waiting.instructions)) == (0x70, True, 2)
    assert (main.start, main.inner, main.counts["HGMMA"]) == (0x10, False, 2)
    assert main.counts["SYNCS"] == 2
    assert main.count("HGMMA.64x256x16") == 2
    assert main.count("HGMMA.64x128x16") == main.count("HGM") == 0
    assert kernel.loops_with("HGMMA") == (main,)
    assert kernel.counts["EXIT"] == 1


@needs_ptxas
@needs_nvdisasm
def test_the_main_loop_of_a_product():
    """As the same kernel written by hand: 4 products, one arrival, one wait, no move of data."""
    kernel = disassemble(assemble(ptx_text(one_tile_gemm())).cubin)["gemm"]
    (main,) = kernel.loops_with("HGMMA")
    assert main.count("HGMMA.64x64x16.F32.BF16") == 4
    assert main.count("WARPGROUP.ARRIVE") == 1
    assert main.count("WARPGROUP.DEPBAR") + main.count("DEPBAR") <= 1
    assert main.counts["UTMALDG"] == 2
    assert main.counts["MOV"] == 0
    counts = kernel.counts
    by_hand = {"HGMMA": 4, "UTMALDG": 2, "SYNCS": 4, "STG": 16, "UTMACCTL": 2, "BAR": 2, "FENCE": 1}
    assert {name: counts[name] for name in by_hand} == by_hand
    assert sum(counts.values()) - counts["NOP"] <= 116
