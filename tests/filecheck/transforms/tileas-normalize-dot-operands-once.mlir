// Behind `tileas-normalize-dot-operands`, `cse` leaves one copy in shared memory of what two products read.

// RUN: tileas-opt %s -p tileas-normalize-dot-operands,cse | filecheck %s

// A state is rounded and transposed for each of two products; it is stored once.

// CHECK-LABEL: @state
// CHECK:         %[[ONCE:.*]] = nv_tileas.convert_layout %{{.*}} : tensor<64x64xtf32> -> tensor<64x64xtf32, #nv_tileas<space smem>>
// CHECK-NEXT:    nv_tileas.dot %{{.*}}, %[[ONCE]], %{{.*}}
// CHECK-NOT:     nv_tileas.convert_layout
// CHECK:         nv_tileas.dot %{{.*}}, %[[ONCE]], %{{.*}}
func.func @state(%s: tensor<64x64xf32>, %a: tensor<64x64xtf32, #nv_tileas<space smem>>, %b: tensor<64x64xtf32, #nv_tileas<space smem>>) {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xtf32>
  %m = nv_tileas.convert_layout %r : tensor<64x64xtf32> -> tensor<64x64xtf32, #nv_tileas<space smem>>
  %x = nv_tileas.dot %a, %m, %z {atom = #nv_tileas<atom wgmma_tf32_tf32_f32>} : tensor<64x64xtf32, #nv_tileas<space smem>>, tensor<64x64xtf32, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
  %q = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xtf32>
  %n = nv_tileas.convert_layout %q : tensor<64x64xtf32> -> tensor<64x64xtf32, #nv_tileas<space smem>>
  %y = nv_tileas.dot %b, %n, %z {atom = #nv_tileas<atom wgmma_tf32_tf32_f32>} : tensor<64x64xtf32, #nv_tileas<space smem>>, tensor<64x64xtf32, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
  "test.op"(%x, %y) : (tensor<64x64xf32>, tensor<64x64xf32>) -> ()
  func.return
}
