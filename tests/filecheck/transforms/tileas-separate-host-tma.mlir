// `tileas-separate-host-tma`: an object for the host that encodes the tensor maps of kernels.  Its
// bytes are on the module; `keep-host-module` also leaves the code itself, as `llvm`, to be read.

// RUN: tileas-opt %s -p tileas-separate-host-tma{keep-host-module=true} | filecheck %s
// RUN: tileas-opt %s -p tileas-separate-host-tma{keep-host-module=true},tileas-separate-host-tma{keep-host-module=true} | filecheck %s
// RUN: xdsl-opt %s -p tileas-separate-host-tma{keep-host-module=true} | filecheck %s
// RUN: tileas-opt %s -p tileas-separate-host-tma{enable-extended-smem=false} | filecheck %s --check-prefix=SMALL
// RUN: tileas-opt %s -p tileas-separate-host-tma,tileas-attach-tma-descriptor-args | filecheck %s --check-prefix=BOTH

// TMA and Memops Family, "Separate Host TMA".  The descriptor of %a is of a window that begins at a
// row that a launch says; the device stays as it was.

// CHECK:      builtin.module attributes {"nv_tileas.host-code" = "\7FELF
// CHECK-NEXT:   func.func @kernel(%a: memref<?x64xf16>, %n: index) attributes {"nv_tileas.enable-extended-smem" = true} {
// CHECK-NEXT:     %c0 = arith.constant 0 : index
// CHECK-NEXT:     %c8 = arith.constant 8 : index
// CHECK-NEXT:     %c64 = arith.constant 64 : index
// CHECK-NEXT:     %w = nv_tileas.view %a[%n, %c0] : memref<?x64xf16> -> !nv_tileas.tiled_view<8x64xf16, gmem>
// CHECK-NEXT:     %d = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<8x64xf16, gmem> -> !nv_tileas.tma_desc
// CHECK-NEXT:     func.return
// CHECK-NEXT:   }

// SMALL: func.func @kernel(%a: memref<?x64xf16>, %n: index) attributes {"nv_tileas.enable-extended-smem" = false} {

// BOTH:      builtin.module attributes {"nv_tileas.host-code" = "\7FELF
// BOTH-NEXT:   func.func @kernel(%a: memref<?x64xf16> {nv_tileas.hidden}, %n: index {nv_tileas.hidden}, %d: !nv_tileas.tma_desc {cute_nvgpu.grid_constant, nv_tileas.tensor_map = {argument = 0 : i64, box = array<i64: 64, 8>, element = f16, swizzle = "none", nan_fill = false, window}}) attributes {"nv_tileas.enable-extended-smem" = true, "nv_tileas.num-device-tmas" = 0 : i32, "nv_tileas.num-host-tmas" = 1 : i32} {

func.func @kernel(%a: memref<?x64xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %w = nv_tileas.view %a[%n, %c0] : memref<?x64xf16> -> !nv_tileas.tiled_view<8x64xf16, gmem>
  %d = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<8x64xf16, gmem> -> !nv_tileas.tma_desc
  func.return
}

// Functions without descriptors are left alone.

// CHECK-NEXT:   func.func @plain(%a: memref<?x64xf16>) {
// CHECK-NEXT:     func.return
// CHECK-NEXT:   }

func.func @plain(%a: memref<?x64xf16>) {
  func.return
}

// The callback interface: tables of words, the slot of hooks, the two lines, and the function that
// a launch calls when arguments have changed.

// CHECK:      builtin.module attributes {"nv_tileas.host-code"} {
// CHECK:        llvm.func @__tileas_encode_tiled(%map: !llvm.ptr, %element: i32, %rank: i32, %address: !llvm.ptr, %dims: !llvm.ptr, %strides: !llvm.ptr, %box: !llvm.ptr, %steps: !llvm.ptr, %interleave: i32, %swizzle: i32, %l2: i32, %fill: i32) -> i32 {
// CHECK:        llvm.mlir.global internal constant @__tileas_sm_num_format("[TileIR Callback] SmNum: %ld deviceTMAMemorySize: 0x%lx\0A\00")
// CHECK-NEXT:   llvm.mlir.global internal constant @__tileas_desc_format("[TileIR Callback] DESC_TMA512: 0x%016lx %016lx %016lx %016lx\0A\00")
// CHECK-NEXT:   llvm.func @printf(!llvm.ptr, ...) -> i32
// CHECK:        llvm.mlir.global weak @__CUDA_TILEIR_CALLBACKS_ON_PRE_LOAD() {{.*}} : !llvm.array<7 x i64> {
// CHECK:        llvm.mlir.global external constant @__CUDA_TILEIR_CALLBACKS() {{.*}} : !llvm.array<9 x i64> {
// CHECK:          llvm.mlir.addressof @__tileas_init : !llvm.ptr
// CHECK:        llvm.func @__CUDA_TILEIR_ON_PRE_LOAD() -> !llvm.ptr {
// CHECK:        llvm.mlir.global internal constant @__tileas_options("--enable-extended-smem=true\00")
// CHECK:        llvm.mlir.global external constant @__CUDA_TILEIR_FUNC_CALLBACKS() {{.*}} : !llvm.array<8 x i64> {
// CHECK:        llvm.func @__CUDA_TILEIR_FUNC_ON_ARGUMENTS_CHANGE(%cookie: !llvm.ptr, %buffer: !llvm.ptr, %arena{{.*}}: !llvm.ptr, %ptr: i64, %size_0: i64, %scalar: i64) -> i32 {
// CHECK:          llvm.call @__tileas_encode(
