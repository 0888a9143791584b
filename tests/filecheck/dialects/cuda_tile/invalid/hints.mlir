// Hints that the compiler cannot follow; it only warns of them.

// RUN: tileas-opt %s -Wunsupported-hints --split-input-file --verify-diagnostics

// Of kernels.

cuda_tile.module @m {
  // expected-warning@+1 {{unknown hint key sm_70}}
  entry @a() optimization_hints=<sm_70 = {occupancy = 2}> {
  }
  // expected-warning@+1 {{latency is not known hint for current Operation}}
  entry @b() optimization_hints=<sm_100 = {latency = 2}> {
  }
  // expected-warning@+1 {{integer value expected for sm_100.occupancy}}
  entry @c() optimization_hints=<sm_100 = {occupancy = "x"}> {
  }
  // expected-warning@+1 {{expected 1 for sm_80.num_cta_in_cga}}
  entry @d() optimization_hints=<sm_80 = {num_cta_in_cga = 2}> {
  }
  // expected-warning@+1 {{expected power-of-two ≤ 16 for sm_100.num_cta_in_cga}}
  entry @e() optimization_hints=<sm_100 = {num_cta_in_cga = 3}> {
  }
  // expected-warning@+1 {{expected power-of-two ≤ 32 for sm_100.num_worker_warps_per_cta}}
  entry @f() optimization_hints=<sm_100 = {num_worker_warps_per_cta = 64}> {
  }
  // expected-warning@+1 {{integer value in the range [1, 32] is expected for default.occupancy}}
  entry @g() optimization_hints=<default = {occupancy = 33}> {
  }
}

// -----

// Of accesses.

%pv = "test.op"() : () -> !cuda_tile.partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>
%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
// expected-warning@+1 {{boolean value expected for sm_100.allow_tma}}
cuda_tile.load_view_tko weak %pv[%t_i32, %t_i32] optimization_hints = <sm_100 = {allow_tma = 1}> : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<8x8xf32>, token
// expected-warning@+1 {{integer value in the range [1, 10] is expected for sm_100.latency}}
cuda_tile.load_view_tko weak %pv[%t_i32, %t_i32] optimization_hints = <sm_100 = {latency = 11}> : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<8x8xf32>, token

// -----

// The same key twice.

cuda_tile.module @m {
  // expected-error@+1 {{duplicate optimization_hints key `sm_100`}}
  entry @k() optimization_hints=<sm_100 = {}, sm_100 = {}> {

// -----

// Hints that are no dictionary.

cuda_tile.module @m {
  // expected-error@+1 {{expected dictionary attribute for optimization_hints entry `sm_100` got value=3 : i64}}
  entry @k() optimization_hints=<sm_100 = 3> {
