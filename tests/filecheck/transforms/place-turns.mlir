// `place-turns`: a turn is passed on behind a quarter of the powers, in a block of code of its own, and the product under
// way is waited for right behind it.

// RUN: tileas-opt %s --split-input-file -p place-turns | filecheck %s

// What the arrival and the release need goes with them; the accumulator may be read earlier.

// CHECK-LABEL: @quarter
// CHECK:       %s = arith.addf
// CHECK-NEXT:  %[[LOW:.*]] = cute.fragment.slice %s[0] : vector<32xf32> -> vector<8xf32>
// CHECK-NEXT:  %[[FIRST:.*]] = math.exp2 %[[LOW]] {nv_tileas.ftz} : vector<8xf32>
// CHECK-NEXT:  %next = arith.addi
// CHECK-NEXT:  %[[X:.*]] = cute_nvgpu.arch.block_idx "x"
// CHECK-NEXT:  %[[NX:.*]] = cute_nvgpu.arch.grid_dim "x"
// CHECK-NEXT:  %[[NEVER:.*]] = arith.cmpi eq, %[[X]], %[[NX]] : i32
// CHECK-NEXT:  cute_nvgpu.arch.barrier_arrive of %next threads 256 again %[[NEVER]] {cute_nvgpu.turn}
// CHECK-NEXT:  %done = cute_nvgpu.arch.wgmma_wait_group 0, %acc
// CHECK-NEXT:  %stage = cute.add_offset
// CHECK-NEXT:  %one = cute_nvgpu.arch.elect_one
// CHECK-NEXT:  cute_nvgpu.arch.mbarrier_arrive %stage if %one
// CHECK-NEXT:  %[[HIGH:.*]] = cute.fragment.slice %s[8] : vector<32xf32> -> vector<24xf32>
// CHECK-NEXT:  %[[OTHERS:.*]] = math.exp2 %[[HIGH]] {nv_tileas.ftz} : vector<24xf32>
// CHECK-NEXT:  %p = cute.fragment.make %[[FIRST]], %[[OTHERS]]
// CHECK-NEXT:  %sum = arith.addf %p, %a
// CHECK-NEXT:  "test.op"(%done, %sum)
func.func @quarter(%a: vector<32xf32>, %acc: vector<32xf32>, %bar: !cute.ptr<i64, smem>, %n: i32) {
  %s = arith.addf %a, %a : vector<32xf32>
  %p = math.exp2 %s {nv_tileas.ftz} : vector<32xf32>
  %next = arith.addi %n, %n : i32
  cute_nvgpu.arch.barrier_arrive of %next threads 256 {cute_nvgpu.turn}
  %sum = arith.addf %p, %a : vector<32xf32>
  %done = cute_nvgpu.arch.wgmma_wait_group 0, %acc : vector<32xf32> -> vector<32xf32>
  %stage = cute.add_offset %bar, %n : !cute.ptr<i64, smem>, i32 -> !cute.ptr<i64, smem>
  %one = cute_nvgpu.arch.elect_one
  cute_nvgpu.arch.mbarrier_arrive %stage if %one : !cute.ptr<i64, smem>
  "test.op"(%done, %sum) : (vector<32xf32>, vector<32xf32>) -> ()
  func.return
}

// -----

// A quarter of two tiles of powers ends behind the first one: none is cut. What waits for some products only, or reads
// powers, stays.

// CHECK-LABEL: @stays
// CHECK-NEXT:  %p = math.exp2 %a
// CHECK:       cute_nvgpu.arch.barrier_arrive id 3 threads 256 again
// CHECK-NEXT:  %q = math.exp2 %b
// CHECK-NEXT:  cute_nvgpu.arch.wgmma_wait_group 1
func.func @stays(%a: vector<8xf32>, %b: vector<24xf32>, %acc: vector<32xf32>) {
  %p = math.exp2 %a : vector<8xf32>
  %q = math.exp2 %b : vector<24xf32>
  cute_nvgpu.arch.barrier_arrive id 3 threads 256 {cute_nvgpu.turn}
  %done = cute_nvgpu.arch.wgmma_wait_group 1, %acc : vector<32xf32> -> vector<32xf32>
  "test.op"(%done, %p, %q) : (vector<32xf32>, vector<8xf32>, vector<24xf32>) -> ()
  func.return
}

// -----

// CHECK-LABEL: @reads_powers
// CHECK:       cute_nvgpu.arch.barrier_arrive id 3 threads 256 again
// CHECK:       %[[WHOLE:.*]] = cute.fragment.make
// CHECK-NEXT:  %h = arith.truncf
// CHECK-NEXT:  cute_nvgpu.arch.wgmma_wait_group 0, %acc, %h
func.func @reads_powers(%a: vector<8xf32>, %acc: vector<32xf32>) {
  %p = math.exp2 %a : vector<8xf32>
  cute_nvgpu.arch.barrier_arrive id 3 threads 256 {cute_nvgpu.turn}
  %h = arith.truncf %p : vector<8xf32> to vector<8xf16>
  %done, %read = cute_nvgpu.arch.wgmma_wait_group 0, %acc, %h : vector<32xf32>, vector<8xf16> -> vector<32xf32>, vector<8xf16>
  "test.op"(%done, %read) : (vector<32xf32>, vector<8xf16>) -> ()
  func.return
}

// -----

// Without powers in front of it a turn is passed on where it is; another arrival is no turn.

// CHECK-LABEL: @nothing
// CHECK:       cute_nvgpu.arch.barrier_arrive id 3 threads 256 {cute_nvgpu.turn}
// CHECK:       math.exp2
// CHECK-NEXT:  cute_nvgpu.arch.barrier_arrive id 4 threads 256
// CHECK-NOT:   again
func.func @nothing(%a: vector<8xf32>) {
  cute_nvgpu.arch.barrier_arrive id 3 threads 256 {cute_nvgpu.turn}
  %p = math.exp2 %a : vector<8xf32>
  cute_nvgpu.arch.barrier_arrive id 4 threads 256
  "test.op"(%p) : (vector<8xf32>) -> ()
  func.return
}
