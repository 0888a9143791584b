// What has no equivalent among tiles with layouts.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics -p convert-tileaa-to-tileas

func.func @known(%v: memref<?xf32>) {
  // expected-error@+1 {{'nv_tileaa.get_dim_size' op asks for an array whose extents come from elsewhere than make_memref}}
  %0 = nv_tileaa.get_dim_size %v {axis = 0 : i32} : memref<?xf32>
  func.return
}

// -----

// Pointers alone are cast there by `nv_tileaa`.
func.func @numbers(%a: f32) {
  // expected-error@+1 {{'nv_tileaa.bitcast' op failed to convert nv_tileaa to nv_tileas}}
  %0 = nv_tileaa.bitcast %a : f32 -> i32
  func.return
}

// -----

func.func @factors(%a: tensor<16x16xf8E8M0FNU>, %c: tensor<16x16xf32>) {
  // expected-error@+1 {{'nv_tileaa.dot' op has factors of f8e8m0; mma multiplies f16, bf16, tf32, f8e4m3, f8e5m2, i8,}}
  %0 = nv_tileaa.dot %a, %a, %c : tensor<16x16xf8E8M0FNU>, tensor<16x16xf8E8M0FNU>, tensor<16x16xf32> -> tensor<16x16xf32>
  func.return
}
