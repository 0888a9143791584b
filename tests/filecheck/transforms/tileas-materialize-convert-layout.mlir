// What each conversion that survives becomes, from nothing to do to shared memory.

// RUN: tileas-opt %s --allow-unregistered-dialect -p tileas-materialize-convert-layout | filecheck %s
// RUN: tileas-opt %s --allow-unregistered-dialect -p tileas-materialize-convert-layout,tileas-materialize-convert-layout | filecheck %s
// RUN: xdsl-opt %s --allow-unregistered-dialect -p tileas-materialize-convert-layout,verify-dominance | filecheck %s --check-prefix=PLAIN
// RUN: tileas-opt %s --allow-unregistered-dialect -p 'tileas-materialize-convert-layout{reinterpret-to-i8=true}' | filecheck %s --check-prefix=BYTES

#rows = #nv_tileas.blocked<"(32,(8,2)):(1@thread,(1@value,8@value))">
#same = #nv_tileas.linear<"(32,16):(1@thread,1@value)">
#turned = #nv_tileas.linear<"(32,(8,2)):(1@thread,(2@value,1@value))">
#neighbours = #nv_tileas.linear<"((2,16),(2,8)):((1@value,2@thread),(1@thread,2@value))">
#pairs = #nv_tileas.linear<"((2,16),(2,8)):((1@thread,2@thread),(1@value,2@value))">
#matrix = #nv_tileas.dot_operand<"((8,2),(2,4,2)):((4@thread,2@value),(1@value,1@thread,4@value))">
#smem = #nv_tileas.shared<(32,16),(16,1),swizzle<1,4,3>>
#r0 = #nv_tileas.blocked<"(64,(16,2)):(1@thread,(1@value,16@value))">
#r1 = #nv_tileas.blocked<"(64,(16,2)):(2@thread,(1@value,1@thread))">

// The listing of the pass: registers of one warp to those of others, through shared memory.

func.func @listing(%x: tensor<64x32xf16, #r0>) -> tensor<64x32xf16, #r1> {
  %y = nv_tileas.convert_layout %x : tensor<64x32xf16, #r0> -> tensor<64x32xf16, #r1>
  func.return %y : tensor<64x32xf16, #r1>
}

// CHECK-LABEL: func.func @listing
// CHECK-NEXT:    %0 = nv_tileas.alloc_tensor : tensor<64x32xf16, #nv_tileas.shared<(64,32),(32,1),swizzle<2,4,3>>>
// CHECK-NEXT:    nv_tileas.copy %x, %0 {atom = #nv_tileas<atom sts>} : tensor<64x32xf16, #r0>, tensor<64x32xf16, #nv_tileas.shared<(64,32),(32,1),swizzle<2,4,3>>>
// CHECK-NEXT:    %y = nv_tileas.convert_layout %0 {atom_plan = {tag = 1 : i32, smem_layout = #nv_tileas.layout<(64,32),(32,1),swizzle<2,4,3>>, atom_layout = #nv_tileas.layout<(8),(1)>, atom = #nv_tileas<atom lds>}} : tensor<64x32xf16, #nv_tileas.shared<(64,32),(32,1),swizzle<2,4,3>>> -> tensor<64x32xf16, #r1>
// CHECK-NEXT:    func.return %y
// PLAIN-LABEL: func.func @listing
// PLAIN-NEXT:    %0 = nv_tileas.alloc_tensor :
// PLAIN-NEXT:    nv_tileas.copy %x, %0 {atom = #nv_tileas<atom sts>} :
// PLAIN-NEXT:    %y = nv_tileas.convert_layout %0 {atom_plan = {tag = 1 : i32,

// Every thread has its elements already, in the same registers or in others.

func.func @in_threads(%x: tensor<32x16xf16, #rows>) -> (tensor<32x16xf16, #same>, tensor<32x16xf16, #turned>) {
  %y = nv_tileas.convert_layout %x : tensor<32x16xf16, #rows> -> tensor<32x16xf16, #same>
  %z = nv_tileas.convert_layout %x : tensor<32x16xf16, #rows> -> tensor<32x16xf16, #turned>
  func.return %y, %z : tensor<32x16xf16, #same>, tensor<32x16xf16, #turned>
}

// CHECK-LABEL: func.func @in_threads
// CHECK-NEXT:    %y = nv_tileas.convert_layout %x {atom_plan = {tag = 0 : i32, atom_layout = #nv_tileas.layout<(8),(1)>}} : tensor<32x16xf16, #rows> -> tensor<32x16xf16, #same>
// CHECK-NEXT:    %z = nv_tileas.convert_layout %x {atom_plan = {tag = 0 : i32, atom_layout = #nv_tileas.layout<(8),(1)>}} : tensor<32x16xf16, #rows> -> tensor<32x16xf16, #turned>

// Lanes exchange words where that costs less than shared memory.

func.func @in_warps(%x: tensor<32x16xi8, #neighbours>) -> tensor<32x16xi8, #pairs> {
  %y = nv_tileas.convert_layout %x : tensor<32x16xi8, #neighbours> -> tensor<32x16xi8, #pairs>
  func.return %y : tensor<32x16xi8, #pairs>
}

// CHECK-LABEL: func.func @in_warps
// CHECK-NEXT:    %y = nv_tileas.shuffle %x {atom_plan = {tag = 0 : i32, atom_layout = #nv_tileas.layout<(16),(1)>}} : tensor<32x16xi8, #neighbours> -> tensor<32x16xi8, #pairs>

// To shared memory and out of it: matrices where they fit.

func.func @memory(%x: tensor<32x16xf16, #rows>) -> (tensor<32x16xf16, #rows>, tensor<16x16xf16, #matrix>)
    attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
  %s = nv_tileas.convert_layout %x : tensor<32x16xf16, #rows> -> tensor<32x16xf16, #smem>
  %y = nv_tileas.convert_layout %s : tensor<32x16xf16, #smem> -> tensor<32x16xf16, #rows>
  %b = nv_tileas.alloc_tensor : tensor<16x16xf16, #nv_tileas.shared<(16,16),(16,1),swizzle<1,4,3>>>
  %z = nv_tileas.convert_layout %b : tensor<16x16xf16, #nv_tileas.shared<(16,16),(16,1),swizzle<1,4,3>>> -> tensor<16x16xf16, #matrix>
  func.return %y, %z : tensor<32x16xf16, #rows>, tensor<16x16xf16, #matrix>
}

// CHECK-LABEL: func.func @memory
// CHECK-NEXT:    %s = nv_tileas.alloc_tensor : tensor<32x16xf16, #smem>
// CHECK-NEXT:    nv_tileas.copy %x, %s {atom_plan = {tag = 1 : i32, smem_layout = #nv_tileas.layout<(32,16),(16,1),swizzle<1,4,3>>, atom_layout = #nv_tileas.layout<(8),(1)>, atom = #nv_tileas<atom sts>}, atom = #nv_tileas<atom sts>} : tensor<32x16xf16, #rows>, tensor<32x16xf16, #smem>
// CHECK-NEXT:    %y = nv_tileas.convert_layout %s {atom_plan = {tag = 1 : i32, smem_layout = #nv_tileas.layout<(32,16),(16,1),swizzle<1,4,3>>, {{.*}} atom = #nv_tileas<atom lds>}}
// CHECK-NEXT:    %b = nv_tileas.alloc_tensor
// CHECK-NEXT:    %z = nv_tileas.convert_layout %b {atom_plan = {tag = 1 : i32, smem_layout = #nv_tileas.layout<(16,16),(16,1),swizzle<1,4,3>>, atom_layout = #nv_tileas.layout<(8),(1)>, atom = #nv_tileas<atom ldsm_m88>}}

// Narrow floats move as bytes where that is asked for.

func.func @narrow(%x: tensor<32x16xf8E4M3FN, #rows>, %n: tensor<32x16xf4E2M1FN, #rows>) -> (tensor<32x16xf8E4M3FN, #turned>, tensor<32x16xf4E2M1FN, #same>) {
  %y = nv_tileas.convert_layout %x : tensor<32x16xf8E4M3FN, #rows> -> tensor<32x16xf8E4M3FN, #turned>
  %m = nv_tileas.convert_layout %n : tensor<32x16xf4E2M1FN, #rows> -> tensor<32x16xf4E2M1FN, #same>
  func.return %y, %m : tensor<32x16xf8E4M3FN, #turned>, tensor<32x16xf4E2M1FN, #same>
}

// CHECK-LABEL: func.func @narrow
// CHECK-NEXT:    %y = nv_tileas.convert_layout %x {atom_plan = {tag = 0 : i32, atom_layout = #nv_tileas.layout<(16),(1)>}}
// BYTES-LABEL: func.func @narrow
// BYTES-NEXT:    %0 = nv_tileas.reinterpret %x : tensor<32x16xf8E4M3FN, #rows> -> tensor<32x16xi8, #rows>
// BYTES-NEXT:    %1 = nv_tileas.convert_layout %0 {atom_plan = {tag = 0 : i32, atom_layout = #nv_tileas.layout<(16),(1)>}} : tensor<32x16xi8, #rows> -> tensor<32x16xi8, #turned>
// BYTES-NEXT:    %y = nv_tileas.reinterpret %1 {reinterpret_byte} : tensor<32x16xi8, #turned> -> tensor<32x16xf8E4M3FN, #turned>
// BYTES-NEXT:    %2 = nv_tileas.reinterpret %n : tensor<32x16xf4E2M1FN, #rows> -> tensor<32x8xi8, #nv_tileas.linear<"(32,8):(1@thread,1@value)">>
// BYTES-NEXT:    %3 = nv_tileas.convert_layout %2 {atom_plan = {tag = 0 : i32, {{.*}}}}
// BYTES-NEXT:    %m = nv_tileas.reinterpret %3 {reinterpret_byte} :

// Left alone: a type that is not laid out, flags, what is decided, and other operations.

func.func @alone(%x: tensor<32x16xf16, #rows>, %f: tensor<32x16xi1, #rows>) -> (tensor<32x16xf16>, tensor<32x16xi1, #turned>, tensor<32x16xf16, #same>) {
  %y = nv_tileas.convert_layout %x : tensor<32x16xf16, #rows> -> tensor<32x16xf16>
  %g = nv_tileas.convert_layout %f : tensor<32x16xi1, #rows> -> tensor<32x16xi1, #turned>
  %z = "test.op"(%x) ({
    %w = nv_tileas.convert_layout %x {atom_plan = {tag = 1 : i32}} : tensor<32x16xf16, #rows> -> tensor<32x16xf16, #same>
    "test.end"(%w) : (tensor<32x16xf16, #same>) -> ()
  }) : (tensor<32x16xf16, #rows>) -> tensor<32x16xf16, #same>
  func.return %y, %g, %z : tensor<32x16xf16>, tensor<32x16xi1, #turned>, tensor<32x16xf16, #same>
}

// CHECK-LABEL: func.func @alone
// CHECK-NEXT:    %y = nv_tileas.convert_layout %x : tensor<32x16xf16, #rows> -> tensor<32x16xf16>
// CHECK-NEXT:    %g = nv_tileas.convert_layout %f : tensor<32x16xi1, #rows> -> tensor<32x16xi1, #turned>
// CHECK:         %w = nv_tileas.convert_layout %x {atom_plan = {tag = 1 : i32}}
