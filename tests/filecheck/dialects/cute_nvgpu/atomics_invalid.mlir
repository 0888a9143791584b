// What atomic updates of one thread refuse.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

%p, %x, %q, %y, %h, %b = "test.op"() : () -> (!cute.ptr<f32, gmem>, f32, !cute.ptr<i64, smem>, i64, !cute.ptr<i8, gmem>, i8)
// expected-error@+1 {{'cute_nvgpu.arch.atomic_rmw' op has no max of f32}}
%0 = cute_nvgpu.arch.atomic_rmw "max" %x, %p : f32, !cute.ptr<f32, gmem> -> f32
// expected-error@+1 {{'cute_nvgpu.arch.atomic_rmw' op updates by add, and, exch, inc, max, min, or, umax, umin, xor, not by mul}}
%1 = cute_nvgpu.arch.atomic_rmw "mul" %y, %q : i64, !cute.ptr<i64, smem> -> i64
// expected-error@+1 {{'cute_nvgpu.arch.atomic_rmw' op updates f32, not i64}}
%2 = cute_nvgpu.arch.atomic_rmw "add" %y, %p : i64, !cute.ptr<f32, gmem> -> i64
// expected-error@+1 {{'cute_nvgpu.arch.atomic_rmw' op says order and scope together}}
%3 = cute_nvgpu.arch.atomic_rmw "add" %y, %q order "acquire" : i64, !cute.ptr<i64, smem> -> i64
// expected-error@+1 {{'cute_nvgpu.arch.atomic_cas' op compares with i64}}
%4 = cute_nvgpu.arch.atomic_cas %y, %q : i64, !cute.ptr<i64, smem> -> i64
// expected-error@+1 {{'cute_nvgpu.arch.atomic_cas' op compares integers of 16, 32 or 64 bits, not i8}}
%5 = cute_nvgpu.arch.atomic_cas %b, %h compare %b : i8 : i8, !cute.ptr<i8, gmem> -> i8
%v, %w, %s = "test.op"() : () -> (vector<4xf32>, vector<3xf32>, !cute.ptr<f32, smem>)
// expected-error@+1 {{'cute_nvgpu.arch.atomic_rmw' op has no add of vector<3xf32>}}
%7 = cute_nvgpu.arch.atomic_rmw "add" %w, %p : vector<3xf32>, !cute.ptr<f32, gmem> -> vector<3xf32>
// expected-error@+1 {{'cute_nvgpu.arch.atomic_rmw' op updates vectors in global memory, not in smem}}
%8 = cute_nvgpu.arch.atomic_rmw "add" %v, %s : vector<4xf32>, !cute.ptr<f32, smem> -> vector<4xf32>
// expected-error@+1 {{'cute_nvgpu.arch.atomic_rmw' op gives what was there of one element, not of a vector}}
%9 = cute_nvgpu.arch.atomic_rmw "add" %v, %p : vector<4xf32>, !cute.ptr<f32, gmem> -> vector<4xf32>
"test.op"(%9) : (vector<4xf32>) -> ()
%6 = cute_nvgpu.arch.atomic_rmw "min" %y, %q : i64, !cute.ptr<i64, smem> -> i64
