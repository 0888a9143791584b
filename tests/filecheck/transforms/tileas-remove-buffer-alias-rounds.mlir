// Too few rounds for a chain of aliases: an error, and what was done so far is valid.

// RUN: tileas-opt %s -p 'tileas-remove-buffer-alias{max-rounds=1}' --verify-diagnostics
// RUN: tileas-opt %s -p tileas-remove-buffer-alias | filecheck %s --check-prefix DONE
// DONE: nv_tileas.view %a[%{{.*}}]

func.func @deep(%c: i1, %i: index, %j: index) {
  %a = nv_tileas.alloc_tensor : tensor<2x32x32xf16, #nv_tileas<space smem>>
  %v = nv_tileas.view %a : tensor<2x32x32xf16, #nv_tileas<space smem>> -> tensor<32x32xf16, #nv_tileas<space smem>>
  %w = nv_tileas.view %a {offset = 1024} : tensor<2x32x32xf16, #nv_tileas<space smem>> -> tensor<32x32xf16, #nv_tileas<space smem>>
  %x = nv_tileas.extract_slice %v[%i, 0][16, 16][1, 1] : tensor<32x32xf16, #nv_tileas<space smem>> -> tensor<16x16xf16, #nv_tileas<space smem>>
  %y = nv_tileas.extract_slice %w[%j, 0][16, 16][1, 1] : tensor<32x32xf16, #nv_tileas<space smem>> -> tensor<16x16xf16, #nv_tileas<space smem>>
  // expected-error@+1 {{'arith.select' op TileASRemoveBufferAliasPass failed to converge}}
  %s = arith.select %c, %x, %y : tensor<16x16xf16, #nv_tileas<space smem>>
  "test.op"(%s) : (tensor<16x16xf16, #nv_tileas<space smem>>) -> ()
  func.return
}
