// Layouts for sm_100a: what products add up is in tensor memory, whoever reads it has it in registers.

// RUN: tileas-opt %s -p 'tileas-assign-load-store-layouts{target=sm_100a}' | filecheck %s

!a = tensor<128x64xf16, #nv_tileas<space smem>>
!b = tensor<64x64xf16, #nv_tileas<space smem>>
!c = tensor<128x64xf32>
!half = tensor<128x64xf16>
!of_c = !nv_tileas.tiled_view<128x64xf32, gmem>
!of_half = !nv_tileas.tiled_view<128x64xf16, gmem>
#open = #nv_tileas<atom unknown_copy>

// 1. A product without an atom: C is in tensor memory.  What is stored plainly is loaded 16 lanes at a
// time, since four threads fill a sector then.

func.func @product(%x: !a, %y: !b, %to: !of_c) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %nothing = arith.constant dense<0.0> : !c
  %d = nv_tileas.dot %x, %y, %nothing : !a, !b, !c -> !c
  nv_tileas.tiled_store %d, %to[%zero, %zero] {atom = #open} : !c, !of_c
  func.return
}

// CHECK-LABEL: func.func @product(%x: !a, %y: !b, %to: !of_c) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
// CHECK-NEXT:      %zero = arith.constant 0 : index
// CHECK-NEXT:      %nothing = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@lane,1@column)">>
// CHECK-NEXT:      %d = nv_tileas.dot %x, %y, %nothing {atom = #nv_tileas<atom tcgen05_f16_f16_f32>} : !a, !b, tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@lane,1@column)">> -> tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@lane,1@column)">>
// CHECK-NEXT:      %0 = nv_tileas.convert_layout %d : tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@lane,1@column)">> -> tensor<128x64xf32, #nv_tileas.linear<"((8,2,2,4),(2,4,8)):((4@thread,2@value,32@value,32@thread),(1@value,1@thread,4@value))">>
// CHECK-NEXT:      nv_tileas.tiled_store %0, %to[%zero, %zero] {nv_tileas.layout = #nv_tileas.layout<(128,64),(64,1)>, atom = #nv_tileas<atom stg>} : tensor<128x64xf32, #nv_tileas.linear<"((8,2,2,4),(2,4,8)):((4@thread,2@value,32@value,32@thread),(1@value,1@thread,4@value))">>, !of_c
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }

// 2. Narrower results fill no more of a sector so: a row for each thread is loaded twice as fast.

func.func @rounded(%x: !a, %y: !b, %to: !of_half) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %nothing = arith.constant dense<0.0> : !c
  %d = nv_tileas.dot %x, %y, %nothing : !a, !b, !c -> !c
  %h = arith.truncf %d : !c to !half
  nv_tileas.tiled_store %h, %to[%zero, %zero] {atom = #open} : !half, !of_half
  func.return
}

// CHECK-LABEL: func.func @rounded(%x: !a, %y: !b, %to: !of_half) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
// CHECK-NEXT:      %zero = arith.constant 0 : index
// CHECK-NEXT:      %nothing = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@lane,1@column)">>
// CHECK-NEXT:      %d = nv_tileas.dot %x, %y, %nothing {atom = #nv_tileas<atom tcgen05_f16_f16_f32>} : !a, !b, tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@lane,1@column)">> -> tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@lane,1@column)">>
// CHECK-NEXT:      %0 = nv_tileas.convert_layout %d : tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@lane,1@column)">> -> tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@thread,1@value)">>
// CHECK-NEXT:      %h = arith.truncf %0 : tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@thread,1@value)">> to tensor<128x64xf16, #nv_tileas.linear<"(128,64):(1@thread,1@value)">>
// CHECK-NEXT:      nv_tileas.tiled_store %h, %to[%zero, %zero] {nv_tileas.layout = #nv_tileas.layout<(128,64),(64,1)>, atom = #nv_tileas<atom stg>} : tensor<128x64xf16, #nv_tileas.linear<"(128,64):(1@thread,1@value)">>, !of_half
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }

// 3. Sums that begin in registers begin with zeros in tensor memory, and are added up outside of it.

func.func @scaled(%x: !a, %y: !b, %to: !of_c, %n: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant dense<2.0> : !c
  %d = scf.for %k = %zero to %n step %one iter_args(%s = %two) -> (!c) {
    %e = arith.mulf %s, %two : !c
    %g = nv_tileas.dot %x, %y, %e : !a, !b, !c -> !c
    scf.yield %g : !c
  }
  nv_tileas.tiled_store %d, %to[%zero, %zero] {atom = #open} : !c, !of_c
  func.return
}

// CHECK-LABEL: func.func @scaled(%x: !a, %y: !b, %to: !of_c, %n: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
// CHECK-NEXT:      %zero = arith.constant 0 : index
// CHECK-NEXT:      %one = arith.constant 1 : index
// CHECK-NEXT:      %two = arith.constant dense<2.000000e+00> : tensor<128x64xf32, #nv_tileas.linear<"((8,2,2,4),(2,4,8)):((4@thread,2@value,32@value,32@thread),(1@value,1@thread,4@value))">>
// CHECK-NEXT:      %d = scf.for %k = %zero to %n step %one iter_args(%s = %two) -> (tensor<128x64xf32, #nv_tileas.linear<"((8,2,2,4),(2,4,8)):((4@thread,2@value,32@value,32@thread),(1@value,1@thread,4@value))">>) {
// CHECK-NEXT:        %e = arith.mulf %s, %two : tensor<128x64xf32, #nv_tileas.linear<"((8,2,2,4),(2,4,8)):((4@thread,2@value,32@value,32@thread),(1@value,1@thread,4@value))">>
// CHECK-NEXT:        %0 = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@lane,1@column)">>
// CHECK-NEXT:        %g = nv_tileas.dot %x, %y, %0 {atom = #nv_tileas<atom tcgen05_f16_f16_f32>} : !a, !b, tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@lane,1@column)">> -> tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@lane,1@column)">>
// CHECK-NEXT:        %1 = nv_tileas.convert_layout %g : tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@lane,1@column)">> -> tensor<128x64xf32, #nv_tileas.linear<"((8,2,2,4),(2,4,8)):((4@thread,2@value,32@value,32@thread),(1@value,1@thread,4@value))">>
// CHECK-NEXT:        %g_1 = arith.addf %1, %e : tensor<128x64xf32, #nv_tileas.linear<"((8,2,2,4),(2,4,8)):((4@thread,2@value,32@value,32@thread),(1@value,1@thread,4@value))">>
// CHECK-NEXT:        scf.yield %g_1 : tensor<128x64xf32, #nv_tileas.linear<"((8,2,2,4),(2,4,8)):((4@thread,2@value,32@value,32@thread),(1@value,1@thread,4@value))">>
// CHECK-NEXT:      }
// CHECK-NEXT:      nv_tileas.tiled_store %d, %to[%zero, %zero] {nv_tileas.layout = #nv_tileas.layout<(128,64),(64,1)>, atom = #nv_tileas<atom stg>} : tensor<128x64xf32, #nv_tileas.linear<"((8,2,2,4),(2,4,8)):((4@thread,2@value,32@value,32@thread),(1@value,1@thread,4@value))">>, !of_c
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }

// 4. A loop that only adds up is added to once, behind it.

func.func @bias(%x: !a, %y: !b, %to: !of_c, %n: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %c = nv_tileas.tiled_load %to[%zero, %zero] {atom = #open} : !of_c -> !c
  %d = scf.for %k = %zero to %n step %one iter_args(%s = %c) -> (!c) {
    %g = nv_tileas.dot %x, %y, %s : !a, !b, !c -> !c
    scf.yield %g : !c
  }
  nv_tileas.tiled_store %d, %to[%zero, %zero] {atom = #open} : !c, !of_c
  func.return
}

// CHECK-LABEL: func.func @bias(%x: !a, %y: !b, %to: !of_c, %n: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
// CHECK-NEXT:      %zero = arith.constant 0 : index
// CHECK-NEXT:      %one = arith.constant 1 : index
// CHECK-NEXT:      %c = nv_tileas.tiled_load %to[%zero, %zero] {nv_tileas.layout = #nv_tileas.layout<(128,64),(64,1)>, atom = #nv_tileas<atom ldg>} : !of_c -> tensor<128x64xf32, #nv_tileas.linear<"((8,2,2,4),(2,4,8)):((4@thread,2@value,32@value,32@thread),(1@value,1@thread,4@value))">>
// CHECK-NEXT:      %0 = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@lane,1@column)">>
// CHECK-NEXT:      %d = scf.for %k = %zero to %n step %one iter_args(%s = %0) -> (tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@lane,1@column)">>) {
// CHECK-NEXT:        %g = nv_tileas.dot %x, %y, %s {atom = #nv_tileas<atom tcgen05_f16_f16_f32>} : !a, !b, tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@lane,1@column)">> -> tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@lane,1@column)">>
// CHECK-NEXT:        scf.yield %g : tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@lane,1@column)">>
// CHECK-NEXT:      }
// CHECK-NEXT:      %1 = nv_tileas.convert_layout %d : tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@lane,1@column)">> -> tensor<128x64xf32, #nv_tileas.linear<"((8,2,2,4),(2,4,8)):((4@thread,2@value,32@value,32@thread),(1@value,1@thread,4@value))">>
// CHECK-NEXT:      %d_1 = arith.addf %1, %c : tensor<128x64xf32, #nv_tileas.linear<"((8,2,2,4),(2,4,8)):((4@thread,2@value,32@value,32@thread),(1@value,1@thread,4@value))">>
// CHECK-NEXT:      nv_tileas.tiled_store %d_1, %to[%zero, %zero] {nv_tileas.layout = #nv_tileas.layout<(128,64),(64,1)>, atom = #nv_tileas<atom stg>} : tensor<128x64xf32, #nv_tileas.linear<"((8,2,2,4),(2,4,8)):((4@thread,2@value,32@value,32@thread),(1@value,1@thread,4@value))">>, !of_c
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }
