// Registers per thread of a warpgroup.

// RUN: tileas-opt %s -t 'ptx{arch=sm_90a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>, minnctapersm = 1 : i64} {
  ptx.setmaxnreg {count = 40 : i64, direction = "dec"}
  ptx.ret
}

// PTX: .version 8.0
// PTX:      setmaxnreg.dec.sync.aligned.u32 40;
// PTX-NEXT: ret;
