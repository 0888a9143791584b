// The option `reg2reg-vec-size`: the most bytes that one access or copy moves.

// RUN: tileas-opt %s -p 'tileas-materialize-convert-layout{reg2reg-vec-size=8}' | filecheck %s

#lanes = #nv_tileas.blocked<"(32,(2,2)):(1@thread,(1@value,2@value))">
#turned = #nv_tileas.linear<"(32,(2,2)):(1@thread,(2@value,1@value))">
#warps = #nv_tileas.linear<"(32,(2,2)):(2@thread,(1@value,1@thread))">

// Below 16 bytes, registers are copied one by one, and accesses of 8 bytes are still possible.

func.func @narrow(%x: tensor<32x4xf16, #lanes>) -> (tensor<32x4xf16, #turned>, tensor<32x4xf16, #warps>) {
  %y = nv_tileas.convert_layout %x : tensor<32x4xf16, #lanes> -> tensor<32x4xf16, #turned>
  %z = nv_tileas.convert_layout %x : tensor<32x4xf16, #lanes> -> tensor<32x4xf16, #warps>
  func.return %y, %z : tensor<32x4xf16, #turned>, tensor<32x4xf16, #warps>
}

// CHECK-LABEL: func.func @narrow
// CHECK-NEXT:    %y = nv_tileas.convert_layout %x {atom_plan = {tag = 0 : i32, {{.*}}}, nv_tileas.root_reg_to_reg_copy_op}
// CHECK-NEXT:    %0 = nv_tileas.alloc_tensor
// CHECK-NEXT:    nv_tileas.copy %x, %0
// CHECK-NEXT:    %z = nv_tileas.convert_layout %0 {atom_plan = {tag = 1 : i32, {{.*}}}} :
