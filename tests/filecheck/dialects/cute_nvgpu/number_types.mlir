// Integers under the name of this dialect are those of cute; without a divisor nothing is known.

// RUN: tileas-opt %s | filecheck %s

func.func @integers(%a: !cute_nvgpu.i4, %b: !cute_nvgpu.i4<divby 2>, %c: !cute_nvgpu.i8, %d: !cute_nvgpu.i16<divby 4>, %e: !cute_nvgpu.i32<divby 128>, %f: !cute_nvgpu.i64<divby 8>) {
  func.return
}

// CHECK:       func.func @integers(%a: !cute.i4, %b: !cute.i4<divby 2>, %c: !cute.i8, %d: !cute.i16<divby 4>, %e: !cute.i32<divby 128>, %f: !cute.i64<divby 8>) {
