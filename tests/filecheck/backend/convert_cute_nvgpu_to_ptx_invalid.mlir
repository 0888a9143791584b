// What is not lowered is refused by name and place, never compiled into something else.

// RUN: tileas-opt %s -p convert-cute-nvgpu-to-ptx --split-input-file --verify-diagnostics

// A module holds kernels.

// expected-error@+1 {{'func.func' op is no kernel: functions marked cute.kernel become entries}}
func.func @helper() {
  func.return
}

// -----

// Operations without a lowering.

func.func @k(%a: f32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'math.erf' op is not lowered to PTX}}
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

// A kernel says how many threads its block has.

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

// Nor a single bit.

// expected-error@+1 {{'func.func' op takes i1, which no launch passes}}
func.func @k(%a: i1) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {

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

// Bytes are extended before they are computed with.

func.func @k(%i: i8) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'arith.addi' op PTX does not compute with integers like i8: extend them}}
  %0 = arith.addi %i, %i : i8
  func.return
}

// -----

// So are floats of 8 bits.

func.func @k(%p: !cute.ptr<f8E5M2, gmem>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %0 = cute.ptr.load %p : !cute.ptr<f8E5M2, gmem> -> f8E5M2
  // expected-error@+1 {{'arith.addf' op PTX does not compute with e5m2: extend it}}
  %1 = arith.addf %0, %0 : f8E5M2
  func.return
}

// -----

// Packed integers are computed with one by one.

func.func @k(%p: !cute.ptr<i16, gmem, align<4>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %0 = cute.ptr.load %p : !cute.ptr<i16, gmem, align<4>> -> vector<2xi16>
  // expected-error@+1 {{'arith.addi' op packed i16 are not computed with like this: extend them}}
  %1 = arith.addi %0, %0 : vector<2xi16>
  func.return
}

// -----

// What would be rounded twice is not rounded.

func.func @k(%a: f64) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'arith.truncf' op rounds f64 to f32 only: what is narrower would be rounded twice}}
  %0 = arith.truncf %a : f64 to bf16
  func.return
}

// -----

// Functions are those of f32.

func.func @k(%a: f64) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'math.exp2' op is approximated in f32 only, not in f64}}
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

// There is no minimum of f64 that PTX takes NaN for.

func.func @k(%a: f64) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'arith.minimumf' op PTX has no minimum or maximum of f64 that a NaN goes through}}
  %0 = arith.minimumf %a, %a : f64
  func.return
}

// -----

// Floats become integers that registers hold.

func.func @k(%a: f32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'arith.fptosi' op floats do not become i1: convert them to i32 first}}
  %0 = arith.fptosi %a : f32 to i1
  func.return
}

// -----

// 64 bits are not rounded to 8 by way of 32.

func.func @k(%i: i64) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'arith.sitofp' op i64 would be rounded twice on its way to e5m2}}
  %0 = arith.sitofp %i : i64 to f8E5M2
  func.return
}

// -----

// Bytes are not put together from single ones.

func.func @k(%i: i8) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'cute.fragment.make' op fragments of i8 are not put together from elements}}
  %0 = cute.fragment.make %i, %i, %i, %i : i8, i8, i8, i8 -> vector<4xi8>
  func.return
}

// -----

// Nor put into others.

func.func @k(%p: !cute.ptr<i8, gmem, align<4>>, %i: i8) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %0 = cute.ptr.load %p : !cute.ptr<i8, gmem, align<4>> -> vector<4xi8>
  // expected-error@+1 {{'vector.insert' op elements are not put into fragments of i8}}
  %1 = vector.insert %i, %0[0] : i8 into vector<4xi8>
  func.return
}

// -----

// Nor selected.

func.func @k(%p: !cute.ptr<i8, gmem, align<4>>, %c: i32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %z = arith.constant 0 : i32
  %b = arith.cmpi eq, %c, %z : i32
  %m = cute.fragment.make %b, %b, %b, %b : i1, i1, i1, i1 -> vector<4xi1>
  %0 = cute.ptr.load %p : !cute.ptr<i8, gmem, align<4>> -> vector<4xi8>
  // expected-error@+1 {{'cute.fragment.select' op elements of packed i8 are not selected one by one}}
  %1 = cute.fragment.select %m, %0, %0 : vector<4xi1>, vector<4xi8>, vector<4xi8> -> vector<4xi8>
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

// Bits are compared for equality.

func.func @k(%a: i32, %b: i32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %0 = arith.cmpi eq, %a, %b : i32
  // expected-error@+1 {{'arith.cmpi' op single bits are compared by eq and ne only}}
  %1 = arith.cmpi slt, %0, %0 : i1
  func.return
}
