// Operations without a lowering are rejected by name and location, never miscompiled.

// RUN: tileas-opt %s -p convert-cute-nvgpu-to-ptx --split-input-file --verify-diagnostics

// A module holds kernels.

// expected-error@+1 {{'func.func' op is no kernel: functions marked cute.kernel become entries}}
func.func @helper() {
  func.return
}

// -----

// Functions that no instruction computes are written out before.

func.func @k(%a: f32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'math.erf' op is written out by expand-math, which was not run}}
  %0 = math.erf %a : f32
  func.return
}

// -----

// A kernel is called what PTX can call it.

// expected-error@+1 {{'func.func' op is a kernel called 'my kernel', which is no name in PTX: those have letters, digits, '_' and '$', and no digit first}}
func.func @"my kernel"() attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  func.return
}

// -----

// expected-error@+1 {{'func.func' op is a kernel called 'dynamic_shared', as its shared memory is}}
func.func @dynamic_shared() attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  func.return
}

// -----

// A kernel requires a block size.

// expected-error@+1 {{'func.func' op says how many threads a block has: nvvm.reqntid = array<i32: ...>}}
func.func @k() attributes {cute.kernel} {
  func.return
}

// -----

// Extents are positive, three at most.

// expected-error@+1 {{'func.func' op has one to three extents of 1 or more as nvvm.reqntid, not (0,)}}
func.func @k() attributes {cute.kernel, nvvm.reqntid = array<i32: 0>} {
  func.return
}

// -----

// They are an array.

// expected-error@+1 {{'func.func' op has nvvm.reqntid as array<i32: x, y, z>, not 128 : i32}}
func.func @k() attributes {cute.kernel, nvvm.reqntid = 128 : i32} {
  func.return
}

// -----

// A block has 1024 threads at most.

// expected-error@+1 {{'func.func' op asks for 2048 threads in a block; sm_90a has 1024 at most}}
func.func @k() attributes {cute.kernel, nvvm.reqntid = array<i32: 2048>} {
  func.return
}

// -----

// A cluster has 8 blocks, unless a launch is asked for more.

// expected-error@+1 {{'func.func' op asks for 16 blocks in a cluster; sm_90a has 8 at most}}
func.func @k() attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, nvvm.cluster_dim = array<i32: 16, 1, 1>} {

  func.return
}

// -----

// Shared memory is that of an SM, less what the system keeps.

// expected-error@+1 {{'func.func' op asks for 232449 bytes of shared memory; sm_90a has 232448 at most}}
func.func @k() attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 232449 : i32} {

  func.return
}

// -----

// Boxes are sent to others in a cluster.

func.func @k(%d: !cute_nvgpu.tma_descriptor_tiled, %i: i32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 4096 : i32} {
  %s = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<f32, smem, align<128>>
  %b = cute_nvgpu.arch.get_dyn_smem 2048 -> !cute.ptr<i64, smem>
  %m = arith.constant 3 : i16
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM90.tma_load' op reaches other blocks, and the kernel has no nvvm.cluster_dim}}
  cute_nvgpu.arch.copy.SM90.tma_load %d[%i] to %s, %b multicast %m : !cute.ptr<f32, smem, align<128>>, !cute.ptr<i64, smem>
  func.return
}

// -----

// A kernel returns nothing.

// expected-error@+1 {{'func.func' op returns values, and a kernel has nobody to return them to}}
func.func @k(%a: i32) -> i32 attributes {cute.kernel, nvvm.reqntid = array<i32: 128>} {
  func.return %a : i32
}

// -----

// No launch passes a fragment.

// expected-error@+1 {{'func.func' op takes vector<2xf32>, which no launch passes}}
func.func @k(%a: vector<2xf32>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {

  func.return
}

// -----

// Nor a pointer to shared memory.

// expected-error@+1 {{'func.func' op takes !cute.ptr<f32, smem>, and a launch passes pointers to global memory}}
func.func @k(%a: !cute.ptr<f32, smem>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {

  func.return
}

// -----

// Shared memory needs a size.

func.func @k() attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'cute_nvgpu.arch.get_dyn_smem' op needs dynamic shared memory: the kernel says how much, tileas.smem_bytes}}
  %0 = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<f32, smem>
  func.return
}

// -----

// Places are inside of it.

func.func @k() attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 4096 : i32} {
  // expected-error@+1 {{'cute_nvgpu.arch.get_dyn_smem' op starts at byte 4096 of 4096 bytes of shared memory}}
  %0 = cute_nvgpu.arch.get_dyn_smem 4096 -> !cute.ptr<f32, smem>
  func.return
}

// -----

// Warps are counted along one axis.

func.func @k() attributes {cute.kernel, nvvm.reqntid = array<i32: 32, 4, 1>} {
  // expected-error@+1 {{'cute_nvgpu.arch.warp_idx' op needs a block with one axis, and it has (32, 4, 1)}}
  %0 = cute_nvgpu.arch.warp_idx
  func.return
}

// -----

// Other blocks are reached in a cluster.

func.func @k(%i: i32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 4096 : i32} {
  %b = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<i64, smem>
  // expected-error@+1 {{'cute_nvgpu.arch.mbarrier_arrive' op reaches other blocks, and the kernel has no nvvm.cluster_dim}}
  cute_nvgpu.arch.mbarrier_arrive %b cta %i : !cute.ptr<i64, smem>
  func.return
}

// -----

// Fragments of narrow elements fill registers.

func.func @k(%p: !cute.ptr<f16, gmem>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'cute.ptr.load' op no registers hold a value of type vector<3xf16>}}
  %0 = cute.ptr.load %p : !cute.ptr<f16, gmem> -> vector<3xf16>
  func.return
}

// -----

// Integers have a width that registers have.

func.func @k(%p: !cute.ptr<i32, gmem>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %0 = cute.ptr.load %p : !cute.ptr<i32, gmem> -> i32
  // expected-error@+1 {{'arith.trunci' op no registers hold a value of type i24}}
  %1 = arith.trunci %0 : i32 to i24
  func.return
}

// -----

// Bytes are packed four to a register, which needs an alignment.

func.func @k(%p: !cute.ptr<i8, gmem>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'cute.ptr.load' op packs i8 four to a register, but !cute.ptr<i8, gmem> promises only an alignment of 1}}
  %0 = cute.ptr.load %p : !cute.ptr<i8, gmem> -> vector<4xi8>
  func.return
}

// -----

// An index has 32 bits.

func.func @k() attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'arith.constant' op 8589934592 does not fit: an index has 32 bits on the device}}
  %0 = arith.constant 8589934592 : index
  func.return
}

// -----

// Nothing is divided by zero.

func.func @k(%i: i32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : i32
  // expected-error@+1 {{'arith.divui' op divides by zero}}
  %1 = arith.divui %i, %0 : i32
  func.return
}

// -----

// Floats of 8 bits are computed with as f32, which would round a fused sum twice.

func.func @k(%p: !cute.ptr<f8E5M2, gmem>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %0 = cute.ptr.load %p : !cute.ptr<f8E5M2, gmem> -> f8E5M2
  // expected-error@+1 {{'math.fma' op rounds e5m2 twice: extend it to f32}}
  %1 = math.fma %0, %0, %0 : f8E5M2
  func.return
}

// -----

// Functions are those of f32.

func.func @k(%a: f64) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'math.exp2' op is computed in f32, not in f64}}
  %0 = math.exp2 %a : f64
  func.return
}

// -----

// Registers have no index.

func.func @k(%p: !cute.ptr<f32, gmem>, %i: index) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %0 = cute.ptr.load %p : !cute.ptr<f32, gmem> -> vector<4xf32>
  // expected-error@+1 {{'vector.extract' op takes one position that is a constant: registers have no index}}
  %1 = vector.extract %0[%i] : f32 from vector<4xf32>
  func.return
}

// -----

// Positions are inside of the fragment.

func.func @k(%p: !cute.ptr<f32, gmem>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %0 = cute.ptr.load %p : !cute.ptr<f32, gmem> -> vector<4xf32>
  // expected-error@+1 {{'vector.extract' op position 4 is outside of 4 elements}}
  %1 = vector.extract %0[4] : f32 from vector<4xf32>
  func.return
}

// -----

// Loops count up.

func.func @k(%n: i32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : i32
  %1 = arith.constant -1 : i32
  // expected-error@+1 {{'scf.for' op counts up by 1 or more, not by -1}}
  scf.for %i = %n to %0 step %1 : i32 {
    cute_nvgpu.arch.barrier id 0
  }
  func.return
}

// -----

// Loops count in registers of 32 or 64 bits.

func.func @k(%n: i16) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : i16
  %1 = arith.constant 1 : i16
  // expected-error@+1 {{'scf.for' op counts in 32 or 64 bits, not in i16}}
  scf.for %i = %0 to %n step %1 : i16 {
    cute_nvgpu.arch.barrier id 0
  }
  func.return
}

// -----

// A broadcast repeats one element.

func.func @k(%p: !cute.ptr<f32, gmem>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %0 = cute.ptr.load %p : !cute.ptr<f32, gmem> -> vector<2xf32>
  // expected-error@+1 {{'vector.broadcast' op repeats one element}}
  %1 = vector.broadcast %0 : vector<2xf32> to vector<4xf32>
  func.return
}

// -----

// A shuffle leaves nothing out.

func.func @k(%p: !cute.ptr<f32, gmem>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %0 = cute.ptr.load %p : !cute.ptr<f32, gmem> -> vector<2xf32>
  // expected-error@+1 {{'vector.shuffle' op leaves no element undefined}}
  %1 = vector.shuffle %0, %0 [0, -1] : vector<2xf32>, vector<2xf32>
  func.return
}

// -----

// Bits of predicates are no bits of memory.

func.func @k(%p: !cute.ptr<f32, gmem>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %0 = cute.ptr.load %p : !cute.ptr<f32, gmem> -> f32
  %1 = cute.fragment.make %0 : f32 -> vector<1xf32>
  // expected-error@+1 {{'vector.bitcast' op bits of f32 are not read as i1}}
  %2 = vector.bitcast %1 : vector<1xf32> to vector<32xi1>
  func.return
}
// -----

// Exponentials are approximated only where that is allowed.

func.func @k(%a: f32, %h: f64) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'math.exp' op is written out by expand-math, unless fastmath<afn> lets it approximate}}
  %0 = math.exp %a : f32
  func.return
}
// -----

// Nor are those of f64 computed in f32.

func.func @k(%a: f32, %h: f64) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'math.expm1' op is computed in f32, not in f64}}
  %0 = math.expm1 %h : f64
  func.return
}
// -----

// What modes an operation has is in a table.

func.func @k(%a: f32, %h: f64) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'math.sqrt' op rounds by one of rn, rz, rm, rp, approx; nv_tileas.rounding is full}}
  %0 = math.sqrt %a {nv_tileas.rounding = "full"} : f32
  func.return
}
// -----

// A minimum is not rounded.

func.func @k(%a: f32, %h: f64) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'arith.minimumf' op rounds by one of none; nv_tileas.rounding is rz}}
  %0 = arith.minimumf %a, %a {nv_tileas.rounding = "rz"} : f32
  func.return
}
// -----

// A rounding is a word.

func.func @k(%a: f32, %h: f64) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'arith.addf' op has nv_tileas.rounding as text, not 1 : i64}}
  %0 = arith.addf %a, %a {nv_tileas.rounding = 1} : f32
  func.return
}
// -----

// A negation has no modes.

func.func @k(%a: f32, %h: f64) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'arith.negf' op has none of nv_tileas.rounding, nv_tileas.ftz and nv_tileas.sat}}
  %0 = arith.negf %a {nv_tileas.ftz} : f32
  func.return
}
// -----

// Quotients do not saturate.

func.func @k(%a: f32, %h: f64) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'arith.divf' op has no nv_tileas.sat}}
  %0 = arith.divf %a, %a {nv_tileas.sat} : f32
  func.return
}
// -----

// Subnormal numbers of f64 are kept.

func.func @k(%a: f32, %h: f64) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'arith.mulf' op flushes and saturates f32 only, not f64}}
  %0 = arith.mulf %h, %h {nv_tileas.ftz} : f64
  func.return
}
// -----

// Directions are for f32 and f64.

func.func @k(%a: f32, %h: f64) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %0 = arith.truncf %a : f32 to f16
  // expected-error@+1 {{'arith.subf' op rounds f16 to nearest only, not by rp}}
  %1 = arith.subf %0, %0 {nv_tileas.rounding = "rp"} : f16
  func.return
}
