// The layout and buffer page, "Layout Descriptor Grammar": a layout that is none of its tile.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// The shape is that of the tile, mode by mode; hierarchical modes count as their product.

#ldg = #nv_tileas<atom ldg>
#stg = #nv_tileas<atom stg>

func.func @shapes(%m: memref<64x64xf16>, %x: tensor<64x64xf16>, %i: index) {
  // expected-error@+1 {{'nv_tileas.tiled_load' op has the layout <(999,3),(7,7),swizzle<3,4,3>,elem=mxf4>, which is none of a tile of 64x64}}
  %0 = nv_tileas.tiled_load %m[%i, %i] {atom = #ldg, nv_tileas.layout = <(999,3),(7,7),swizzle<3,4,3>,elem=mxf4>} : memref<64x64xf16> -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_store' op has the layout <(4096),(1)>, which is none of a tile of 64x64}}
  nv_tileas.tiled_store %x, %m[%i, %i] {atom = #stg, nv_tileas.layout = <(4096),(1)>} : tensor<64x64xf16>, memref<64x64xf16>
  %1 = nv_tileas.tiled_load %m[%i, %i] {atom = #nv_tileas<atom unknown_copy>, nv_tileas.layout = <((8,8),64),((64,512),1),swizzle<3,4,3>>} : memref<64x64xf16> -> tensor<64x64xf16>
  func.return
}

// -----

// `elem` renames elements; it cannot change their width.

#ldg = #nv_tileas<atom ldg>

func.func @elements(%m: memref<64x64xf16>, %n: memref<64x64xf4E2M1FN>, %i: index) {
  // expected-error@+1 {{'nv_tileas.tiled_load' op has the layout <(64,64),(64,1),elem=mxf4>, which reads elements f16 of 16 bits as mxf4, which has 4}}
  %0 = nv_tileas.tiled_load %m[%i, %i] {atom = #ldg, nv_tileas.layout = <(64,64),(64,1),elem=mxf4>} : memref<64x64xf16> -> tensor<64x64xf16>
  %1 = nv_tileas.tiled_load %m[%i, %i] {atom = #ldg, nv_tileas.layout = <(64,64),(64,1),elem=bf16>} : memref<64x64xf16> -> tensor<64x64xf16>
  %2 = nv_tileas.tiled_load %n[%i, %i] {atom = #ldg, nv_tileas.layout = <(64,64),(64,1),elem=nvfp4>} : memref<64x64xf4E2M1FN> -> tensor<64x64xf4E2M1FN>
  func.return
}

// -----

// A swizzle is one of shared memory, the one that the tile has there.

#ldg = #nv_tileas<atom ldg>
#any = #nv_tileas<atom unknown_copy>
!shared = tensor<64x64xf16, #nv_tileas.shared<(64,64),(64,1),swizzle<3,4,3>>>

func.func @memory(%m: memref<64x64xf16>, %i: index) {
  // expected-error@+1 {{'nv_tileas.tiled_load' op has the layout <(64,64),(64,1),swizzle<3,4,3>>, which swizzles shared memory, past which ldg moves the tile}}
  %0 = nv_tileas.tiled_load %m[%i, %i] {atom = #ldg, nv_tileas.layout = <(64,64),(64,1),swizzle<3,4,3>>} : memref<64x64xf16> -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op has the layout <(64,64),(64,1),swizzle<2,4,3>>, but its tile is in shared memory as <(64,64),(64,1),swizzle<3,4,3>>}}
  %1 = nv_tileas.tiled_load %m[%i, %i] {atom = #nv_tileas<atom tma_load_2d>, nv_tileas.layout = <(64,64),(64,1),swizzle<2,4,3>>} : memref<64x64xf16> -> !shared
  %2 = nv_tileas.tiled_load %m[%i, %i] {atom = #any, nv_tileas.layout = <(64,64),(64,1),swizzle<3,4,3>>} : memref<64x64xf16> -> tensor<64x64xf16>
  %3 = nv_tileas.tiled_load %m[%i, %i] {atom = #nv_tileas<atom tma_load_2d>, nv_tileas.layout = <(64,64),(64,1),swizzle<3,4,3>>} : memref<64x64xf16> -> !shared
  func.return
}

// -----

// The closed set of swizzles.

// expected-error@+1 {{swizzle<2,4,4> is no swizzle of shared memory}}
"test.op"() {a = #nv_tileas.layout<(64,64),(64,1),swizzle<2,4,4>>} : () -> ()
