// Types and attributes, written and read again.

// RUN: tileas-opt %s --split-input-file | filecheck %s
// RUN: tileas-opt %s --split-input-file | tileas-opt --split-input-file | filecheck %s

// Every type, in the notation of CuTe IR.

func.func private @types(
  !cute.layout<"(16,(4)):(1,(16))">, !cute.layout<"(?,?{div=4}):(?{i64},?{i64 div=8})">,
  !cute.layout<"(4,2):(1@0,1@1)">, !cute.layout<"(4,2):(1/2@0,1@1@0)">,
  !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, !cute.composed_layout<"8:2 o ? o (4,2):(1,4)">,
  !cute.shape<"(4,?)">, !cute.stride<"(1@1,1@0)">, !cute.coord<"(0,_)">, !cute.int_tuple<"(1,?{div=128})">,
  !cute.tile<"[64:1;_;(2,2):(1,8)]">, !cute.swizzle<"S<3,4,3>">,
  !cute.ptr<f16, smem, align<128>, S<3,4,3>>, !cute.ptr<i64, cmem>, !cute.ptr<f32, tmem>,
  !cute.memref<f16, smem, align<128>, S<3,4,3>, "(8,64):(64,1)">, !cute.memref<i1, rmem, "8:1">,
  !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">, !cute.arith_tuple_iter<"(0,?)">,
  !cute.desc_iter<f16, smem, align<1024>, S<3,4,3>, "(8,64):(64,1)">,
  !cute.i32<divby 128>, !cute.i64<divby 8>, !cute.i4, !cute.fast_divmod_divisor<32>)

// CHECK-LABEL: @types
// CHECK-SAME: !cute.layout<"(16,(4)):(1,(16))">
// CHECK-SAME: !cute.layout<"(?,?{div=4}):(?{i64},?{i64 div=8})">
// CHECK-SAME: !cute.layout<"(4,2):(1@0,1@1)">
// CHECK-SAME: !cute.layout<"(4,2):(1/2@0,1@1@0)">
// CHECK-SAME: !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
// CHECK-SAME: !cute.composed_layout<"8:2 o ? o (4,2):(1,4)">
// CHECK-SAME: !cute.shape<"(4,?)">
// CHECK-SAME: !cute.stride<"(1@1,1@0)">
// CHECK-SAME: !cute.coord<"(0,_)">
// CHECK-SAME: !cute.int_tuple<"(1,?{div=128})">
// CHECK-SAME: !cute.tile<"[64:1;_;(2,2):(1,8)]">
// CHECK-SAME: !cute.swizzle<"S<3,4,3>">
// CHECK-SAME: !cute.ptr<f16, smem, align<128>, S<3,4,3>>
// CHECK-SAME: !cute.ptr<i64, cmem>
// CHECK-SAME: !cute.ptr<f32, tmem>
// CHECK-SAME: !cute.memref<f16, smem, align<128>, S<3,4,3>, "(8,64):(64,1)">
// CHECK-SAME: !cute.memref<i1, rmem, "8:1">
// CHECK-SAME: !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
// CHECK-SAME: !cute.arith_tuple_iter<"(0,?)">
// CHECK-SAME: !cute.desc_iter<f16, smem, align<1024>, S<3,4,3>, "(8,64):(64,1)">
// CHECK-SAME: !cute.i32<divby 128>
// CHECK-SAME: !cute.i64<divby 8>
// CHECK-SAME: !cute.i4
// CHECK-SAME: !cute.fast_divmod_divisor<32>

// -----

// Attributes.

func.func private @attributes() attributes {
  layout = #cute.layout<"(8,4):(1,8)">, tile = #cute.tile<"[64:1;_]">, coord = #cute.coord<"(1,_)">,
  shape = #cute.shape<"(128,64)">, stride = #cute.stride<"(1,128)">, tuple = #cute.int_tuple<"(0,?)">}

// CHECK-LABEL: @attributes
// CHECK-SAME: #cute.layout<"(8,4):(1,8)">
// CHECK-SAME: #cute.tile<"[64:1;_]">
// CHECK-SAME: #cute.coord<"(1,_)">
// CHECK-SAME: #cute.shape<"(128,64)">
// CHECK-SAME: #cute.stride<"(1,128)">
// CHECK-SAME: #cute.int_tuple<"(0,?)">
