// Kernels and their grid constants are marked for NVVM.

// RUN: tileas-opt %s -p cute-to-nvvm | filecheck %s

// The mark of a kernel is renamed, and nothing else changes.

func.func @kernel(%p: !cute.ptr<f32, gmem>) attributes {cute.kernel, test.kept} {
  func.return
}

// CHECK:      llvm.func @kernel(%p: !llvm.ptr<1>) attributes {test.kept, nvvm.kernel} {
// CHECK-NEXT:   llvm.return

// A grid constant is aligned, passed by value and constant; other attributes of arguments stay.

func.func @grid_constant(%d: !cute.ptr<i8, gmem, align<16>> {test.kept, cute_nvgpu.grid_constant}, %q: !cute.ptr<f32, gmem>) attributes {cute.kernel} {
  func.return
}

// CHECK:      llvm.func @grid_constant(%d: !llvm.ptr<1> {test.kept, llvm.align = 16 : i64, llvm.byval, nvvm.grid_constant}, %q: !llvm.ptr<1>) attributes {nvvm.kernel} {

// A function that is no kernel stays as it is.

func.func @helper(%h: !cute.ptr<i8, gmem> {cute_nvgpu.grid_constant}) {
  func.return
}

// CHECK:      llvm.func @helper(%h: !llvm.ptr<1> {cute_nvgpu.grid_constant}) {
