// Every message of the algebra: an error about operands stands bare, and a second one names the
// operation whose result types cannot be inferred.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// A tiler is a layout or a tile.

func.func @f(%v: !cute.memref<f16, gmem, "(8,8):(1,8)">, %t: !cute.coord<"(4,4)">, %c: !cute.coord<"(0,0)">) {
  // expected-error@+2 {{unexpected tiler type, got '!cute.coord<"(4,4)">'}}
  // expected-error@+1 {{'cute.local_tile' op failed to infer returned types}}
  %r = cute.local_tile(%v, %t, %c) : (!cute.memref<f16, gmem, "(8,8):(1,8)">, !cute.coord<"(4,4)">, !cute.coord<"(0,0)">) -> i32
  func.return
}

// -----

// A coordinate of tiles is a coordinate.

func.func @f(%v: !cute.memref<f16, gmem, "(8,8):(1,8)">, %t: !cute.tile<"[4:1;4:1]">, %c: !cute.shape<"(1,1)">) {
  // expected-error@+2 {{unexpected coordinate type, got '!cute.shape<"(1,1)">'}}
  // expected-error@+1 {{'cute.local_tile' op failed to infer returned types}}
  %r = cute.local_tile(%v, %t, %c) : (!cute.memref<f16, gmem, "(8,8):(1,8)">, !cute.tile<"[4:1;4:1]">, !cute.shape<"(1,1)">) -> i32
  func.return
}

// -----

// It has a number for each mode of the tiler.

func.func @f(%v: !cute.memref<f16, gmem, "(8,8):(1,8)">, %t: !cute.tile<"[4:1;4:1]">, %c: !cute.coord<"0">) {
  // expected-error@+2 {{expected a coordinate of rank 2 but got #cute.coord<"0">}}
  // expected-error@+1 {{'cute.local_tile' op failed to infer returned types}}
  %r = cute.local_tile(%v, %t, %c) : (!cute.memref<f16, gmem, "(8,8):(1,8)">, !cute.tile<"[4:1;4:1]">, !cute.coord<"0">) -> i32
  func.return
}

// -----

// Tiles are those of a view.

func.func @f(%v: !cute.layout<"(8,8):(1,8)">, %t: !cute.tile<"[4:1;4:1]">, %c: !cute.coord<"(0,0)">) {
  // expected-error@+2 {{expected a view as an input but got '!cute.layout<"(8,8):(1,8)">'}}
  // expected-error@+1 {{'cute.local_tile' op failed to infer returned types}}
  %r = cute.local_tile(%v, %t, %c) : (!cute.layout<"(8,8):(1,8)">, !cute.tile<"[4:1;4:1]">, !cute.coord<"(0,0)">) -> i32
  func.return
}

// -----

// A projection has the profile of the tiler.

func.func @f(%v: !cute.memref<f16, gmem, "(8,8):(1,8)">, %t: !cute.tile<"[4:1;4:1]">, %c: !cute.coord<"(0,0)">) {
  // expected-error@+2 {{Failed to dice !cute.tile<"[4:1;4:1]"> and !cute.coord<"(0,0)"> by #cute.coord<"(1,1,_)">}}
  // expected-error@+1 {{'cute.local_tile' op failed to infer returned types}}
  %r = cute.local_tile(%v, %t, %c) <{proj = #cute.coord<"(1,1,_)">}> : (!cute.memref<f16, gmem, "(8,8):(1,8)">, !cute.tile<"[4:1;4:1]">, !cute.coord<"(0,0)">) -> i32
  func.return
}

// -----

// Each number counts tiles along one mode.

func.func @f(%v: !cute.memref<f16, gmem, "(8,8):(1,8)">, %t: !cute.tile<"[4:1;4:1]">, %c: !cute.coord<"((0,0),0)">) {
  // expected-error@+2 {{failed to construct a valid coordinate from #cute.coord<"((0,0),0)"> resulting in an incorrect profile}}
  // expected-error@+1 {{'cute.local_tile' op failed to infer returned types}}
  %r = cute.local_tile(%v, %t, %c) : (!cute.memref<f16, gmem, "(8,8):(1,8)">, !cute.tile<"[4:1;4:1]">, !cute.coord<"((0,0),0)">) -> i32
  func.return
}

// -----

// Threads are numbered by a layout.

func.func @f(%v: !cute.layout<"(8,8):(1,8)">, %t: !cute.tile<"[4:1;4:1]">, %i: i32) {
  // expected-error@+2 {{expects LayoutType tiler, but got '!cute.tile<"[4:1;4:1]">'}}
  // expected-error@+1 {{'cute.local_partition' op failed to infer returned types}}
  %r = cute.local_partition(%v, %t, %i) : (!cute.layout<"(8,8):(1,8)">, !cute.tile<"[4:1;4:1]">, i32) -> i32
  func.return
}

// -----

// How many there are is known.

func.func @f(%v: !cute.layout<"(8,8):(1,8)">, %t: !cute.layout<"(?,4):(4,1)">, %i: i32) {
  // expected-error@+2 {{expects LayoutType tiler with static shape, but got '!cute.layout<"(?,4):(4,1)">'}}
  // expected-error@+1 {{'cute.local_partition' op failed to infer returned types}}
  %r = cute.local_partition(%v, %t, %i) : (!cute.layout<"(8,8):(1,8)">, !cute.layout<"(?,4):(4,1)">, i32) -> i32
  func.return
}

// -----

// A layout or a view is partitioned.

func.func @f(%v: !cute.shape<"(8,8)">, %t: !cute.layout<"(4,4):(4,1)">, %i: i32) {
  // expected-error@+2 {{expects `input` to be a layout or a view, got '!cute.shape<"(8,8)">'}}
  // expected-error@+1 {{'cute.local_partition' op failed to infer returned types}}
  %r = cute.local_partition(%v, %t, %i) : (!cute.shape<"(8,8)">, !cute.layout<"(4,4):(4,1)">, i32) -> i32
  func.return
}

// -----

// Also where shapes are asked for.

func.func @f(%v: !cute.shape<"(8,8)">) {
  // expected-error@+2 {{expects `input` to be a layout or a view, got '!cute.shape<"(8,8)">'}}
  // expected-error@+1 {{'cute.get_shape' op failed to infer returned types}}
  %r = cute.get_shape(%v) : (!cute.shape<"(8,8)">) -> i32
  func.return
}

// -----

// A profile is a coordinate.

func.func @f(%v: !cute.layout<"(8,8):(1,8)">, %t: !cute.layout<"(4,4):(4,1)">, %i: i32, %p: !cute.shape<"(1,1)">) {
  // expected-error@+2 {{expects `target_profile` be CoordType, but got '!cute.shape<"(1,1)">'}}
  // expected-error@+1 {{'cute.local_partition' op failed to infer returned types}}
  %r = cute.local_partition(%v, %t, %i, %p) : (!cute.layout<"(8,8):(1,8)">, !cute.layout<"(4,4):(4,1)">, i32, !cute.shape<"(1,1)">) -> i32
  func.return
}

// -----

// The partitioned layout has a mode for each mode of the threads.

func.func @f(%v: !cute.layout<"(8,8):(1,8)">, %t: !cute.layout<"(2,2,2):(1,2,4)">, %i: i32) {
  // expected-error@+2 {{unable to coalesce `input` of type '!cute.layout<"(8,8):(1,8)">'}}
  // expected-error@+1 {{'cute.local_partition' op failed to infer returned types}}
  %r = cute.local_partition(%v, %t, %i) : (!cute.layout<"(8,8):(1,8)">, !cute.layout<"(2,2,2):(1,2,4)">, i32) -> i32
  func.return
}

// -----

// A thread's coordinate is computed from its index by division.

func.func @f(%v: !cute.layout<"(8,8):(1,8)">, %t: !cute.layout<"(4,4):(1@0,1@1)">, %i: i32) {
  // expected-error@+2 {{unable to construct a coordinate for local_partition}}
  // expected-error@+1 {{'cute.local_partition' op failed to infer returned types}}
  %r = cute.local_partition(%v, %t, %i) : (!cute.layout<"(8,8):(1,8)">, !cute.layout<"(4,4):(1@0,1@1)">, i32) -> i32
  func.return
}

// -----

// Registers are like a layout or a view.

func.func @f(%v: !cute.shape<"(8,8)">) {
  // expected-error@+2 {{expects `input` is CuteMemRefType or CuteLayoutTypeInterface, but got '!cute.shape<"(8,8)">'}}
  // expected-error@+1 {{'cute.make_fragment_like' op failed to infer returned types}}
  %r = cute.make_fragment_like(%v) : (!cute.shape<"(8,8)">) -> i32
  func.return
}

// -----

// Coordinates are not held in registers.

func.func @f(%v: !cute.coord_tensor<"(0,0)", "(8,8):(1@0,1@1)">) {
  // expected-error@+2 {{expects `src` is LayoutTypeInterface or CuteMemRefType, but got '!cute.coord_tensor<"(0,0)", "(8,8):(1@0,1@1)">'}}
  // expected-error@+1 {{'cute.make_fragment_like' op failed to infer returned types}}
  %r = cute.make_fragment_like(%v) : (!cute.coord_tensor<"(0,0)", "(8,8):(1@0,1@1)">) -> i32
  func.return
}

// -----

// The layout of registers is known.

func.func @f(%v: !cute.layout<"(?,8):(1,8)">) {
  // expected-error@+2 {{unable to make fragment-like layout from '(?,8):(1,8)': registers have a layout with integers that are known}}
  // expected-error@+1 {{'cute.make_fragment_like' op failed to infer returned types}}
  %r = cute.make_fragment_like(%v) : (!cute.layout<"(?,8):(1,8)">) -> i32
  func.return
}

// -----

// It is not composed of two layouts.

func.func @f(%v: !cute.composed_layout<"8:2 o 0 o (4,2):(1,4)">) {
  // expected-error@+2 {{unable to make fragment-like layout}}
  // expected-error@+1 {{'cute.make_fragment_like' op failed to infer returned types}}
  %r = cute.make_fragment_like(%v) : (!cute.composed_layout<"8:2 o 0 o (4,2):(1,4)">) -> i32
  func.return
}

// -----

// Modes are grouped from the first

func.func @f(%v: !cute.layout<"(8,4):(1,8)">) {
  // expected-error@+2 {{expects begin in the range of [-rank , rank-1], but got begin [2] and rank [2]}}
  // expected-error@+1 {{'cute.group_modes' op failed to infer returned types}}
  %r = cute.group_modes(%v) <{begin = 2 : i32, end = 2 : i32}> : (!cute.layout<"(8,4):(1,8)">) -> i32
  func.return
}

// -----

// to the last of a range

func.func @f(%v: !cute.layout<"(8,4):(1,8)">) {
  // expected-error@+2 {{expects end in the range of [-rank+1 , rank], but got end [3] and rank [2]}}
  // expected-error@+1 {{'cute.group_modes' op failed to infer returned types}}
  %r = cute.group_modes(%v) <{begin = 0 : i32, end = 3 : i32}> : (!cute.layout<"(8,4):(1,8)">) -> i32
  func.return
}

// -----

// that is not empty.

func.func @f(%v: !cute.layout<"(8,4):(1,8)">) {
  // expected-error@+2 {{expects begin < end, but got begin [-1] ([1]) and end [1] ([1])}}
  // expected-error@+1 {{'cute.group_modes' op failed to infer returned types}}
  %r = cute.group_modes(%v) <{begin = -1 : i32, end = 1 : i32}> : (!cute.layout<"(8,4):(1,8)">) -> i32
  func.return
}

// -----

// Layouts, views and tuples have modes.

func.func @f(%v: !cute.swizzle<"S<3,4,3>">) {
  // expected-error@+2 {{expects view or layout type, but got '!cute.swizzle<"S<3,4,3>">'}}
  // expected-error@+1 {{'cute.group_modes' op failed to infer returned types}}
  %r = cute.group_modes(%v) <{begin = 0 : i32, end = 1 : i32}> : (!cute.swizzle<"S<3,4,3>">) -> i32
  func.return
}

// -----

// A coordinate with underscores has no size,

func.func @f(%v: !cute.coord<"(1,_)">) {
  // expected-error@+2 {{input type [!cute.coord<"(1,_)">] has invalid values.}}
  // expected-error@+1 {{'cute.size' op failed to infer returned types}}
  %r = cute.size(%v) : (!cute.coord<"(1,_)">) -> i32
  func.return
}

// -----

// nor has a mode that is not there,

func.func @f(%v: !cute.layout<"(8,4):(1,8)">) {
  // expected-error@+2 {{mode [4] has invalid values for input type !cute.layout<"(8,4):(1,8)">}}
  // expected-error@+1 {{'cute.size' op failed to infer returned types}}
  %r = cute.size(%v) <{mode = [4]}> : (!cute.layout<"(8,4):(1,8)">) -> i32
  func.return
}

// -----

// nor a stride of coordinates.

func.func @f(%v: !cute.stride<"(1@0,1@1)">) {
  // expected-error@+2 {{unable to compute size for input !cute.stride<"(1@0,1@1)"> and mode []}}
  // expected-error@+1 {{'cute.size' op failed to infer returned types}}
  %r = cute.size(%v) : (!cute.stride<"(1@0,1@1)">) -> i32
  func.return
}

// -----

// What a layout does last is not linear in its result.

func.func @f(%v: !cute.composed_layout<"8:2 o 0 o (4,2):(1,4)">) {
  // expected-error@+2 {{can't derive meaningful cosize of composed layout when inner is affine: '!cute.composed_layout<"8:2 o 0 o (4,2):(1,4)">'}}
  // expected-error@+1 {{'cute.cosize' op failed to infer returned types}}
  %r = cute.cosize(%v) : (!cute.composed_layout<"8:2 o 0 o (4,2):(1,4)">) -> i32
  func.return
}

// -----

// A mode that is not there

func.func @f(%v: !cute.layout<"(8,4):(1,8)">) {
  // expected-error@+2 {{mode [5] is invalid for input type !cute.layout<"(8,4):(1,8)">}}
  // expected-error@+1 {{'cute.cosize' op failed to infer returned types}}
  %r = cute.cosize(%v) <{mode = [5]}> : (!cute.layout<"(8,4):(1,8)">) -> i32
  func.return
}

// -----

// and coordinates have no cosize.

func.func @f(%v: !cute.layout<"(8,4):(1@0,1@1)">) {
  // expected-error@+2 {{unable to compute cosize for input !cute.layout<"(8,4):(1@0,1@1)"> and mode []}}
  // expected-error@+1 {{'cute.cosize' op failed to infer returned types}}
  %r = cute.cosize(%v) : (!cute.layout<"(8,4):(1@0,1@1)">) -> i32
  func.return
}

// -----

// Some mode is selected

func.func @f(%v: !cute.layout<"(8,4):(1,8)">) {
  // expected-error@+2 {{Invalid results for select(). Modes: []}}
  // expected-error@+1 {{'cute.select' op failed to infer returned types}}
  %r = cute.select(%v) <{mode = []}> : (!cute.layout<"(8,4):(1,8)">) -> i32
  func.return
}

// -----

// of those that there are.

func.func @f(%v: !cute.layout<"(8,4):(1,8)">) {
  // expected-error@+2 {{The mode [0, 7] contains values that are out of range for the input type '!cute.layout<"(8,4):(1,8)">'}}
  // expected-error@+1 {{'cute.select' op failed to infer returned types}}
  %r = cute.select(%v) <{mode = [0, 7]}> : (!cute.layout<"(8,4):(1,8)">) -> i32
  func.return
}

// -----

// A block is a layout or a view.

func.func @f(%v: !cute.shape<"(8,8)">, %s: !cute.shape<"(128,64)">, %o: !cute.int_tuple<"(0,1)">) {
  // expected-error@+2 {{invalid input types for tile_to_shape, got '!cute.shape<"(8,8)">', '!cute.shape<"(128,64)">', '!cute.int_tuple<"(0,1)">'}}
  // expected-error@+1 {{'cute.tile_to_shape' op failed to infer returned types}}
  %r = cute.tile_to_shape(%v, %s, %o) : (!cute.shape<"(8,8)">, !cute.shape<"(128,64)">, !cute.int_tuple<"(0,1)">) -> i32
  func.return
}

// -----

// The order has a number for each mode,

func.func @f(%v: !cute.layout<"(8,4):(1,8)">, %s: !cute.shape<"(128,64)">, %o: !cute.int_tuple<"(0,1,2)">) {
  // expected-error@+2 {{expects target shape and order operands have same rank, but got (128,64) vs (0,1,2)}}
  // expected-error@+1 {{'cute.tile_to_shape' op failed to infer returned types}}
  %r = cute.tile_to_shape(%v, %s, %o) : (!cute.layout<"(8,4):(1,8)">, !cute.shape<"(128,64)">, !cute.int_tuple<"(0,1,2)">) -> i32
  func.return
}

// -----

// which is known.

func.func @f(%v: !cute.layout<"(8,4):(1,8)">, %s: !cute.shape<"(128,64)">, %o: !cute.int_tuple<"(?,1)">) {
  // expected-error@+2 {{expects only static order modes, but got (?,1)}}
  // expected-error@+1 {{'cute.tile_to_shape' op failed to infer returned types}}
  %r = cute.tile_to_shape(%v, %s, %o) : (!cute.layout<"(8,4):(1,8)">, !cute.shape<"(128,64)">, !cute.int_tuple<"(?,1)">) -> i32
  func.return
}

// -----

// Windows have the profile of the layout,

func.func @f(%v: !cute.layout<"(8,4):(1,8)">, %s: !cute.shape<"(3,(1,1))">) {
  // expected-error@+2 {{Target and kernel shapes must be congruent.}}
  // expected-error@+1 {{'cute.stencil_divide' op failed to infer returned types}}
  %r = cute.stencil_divide(%v, %s) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>}> : (!cute.layout<"(8,4):(1,8)">, !cute.shape<"(3,(1,1))">) -> i32
  func.return
}

// -----

// as has the padding below,

func.func @f(%v: !cute.layout<"(8,4):(1,8)">, %s: !cute.shape<"(3,1)">, %p: !cute.int_tuple<"1">) {
  // expected-error@+2 {{Lower padding shape must be congruent with target shape}}
  // expected-error@+1 {{'cute.stencil_divide' op failed to infer returned types}}
  %r = cute.stencil_divide(%v, %s, %p) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 0>}> : (!cute.layout<"(8,4):(1,8)">, !cute.shape<"(3,1)">, !cute.int_tuple<"1">) -> i32
  func.return
}

// -----

// the padding above,

func.func @f(%v: !cute.layout<"(8,4):(1,8)">, %s: !cute.shape<"(3,1)">, %p: !cute.int_tuple<"1">) {
  // expected-error@+2 {{Upper padding shape must be congruent with target shape}}
  // expected-error@+1 {{'cute.stencil_divide' op failed to infer returned types}}
  %r = cute.stencil_divide(%v, %s, %p) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}> : (!cute.layout<"(8,4):(1,8)">, !cute.shape<"(3,1)">, !cute.int_tuple<"1">) -> i32
  func.return
}

// -----

// and the stride.

func.func @f(%v: !cute.layout<"(8,4):(1,8)">, %s: !cute.shape<"(3,1)">, %p: !cute.int_tuple<"1">) {
  // expected-error@+2 {{Traversal stride must be congruent with target shape}}
  // expected-error@+1 {{'cute.stencil_divide' op failed to infer returned types}}
  %r = cute.stencil_divide(%v, %s, %p) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 1, 0>}> : (!cute.layout<"(8,4):(1,8)">, !cute.shape<"(3,1)">, !cute.int_tuple<"1">) -> i32
  func.return
}

// -----

// A tiler divides

func.func @f(%v: !cute.layout<"(8,4):(1,8)">, %t: !cute.stride<"(1,2)">) {
  // expected-error@+2 {{invalid tiler type, got'!cute.stride<"(1,2)">'}}
  // expected-error@+1 {{'cute.logical_divide' op failed to infer returned types}}
  %r = cute.logical_divide(%v, %t) : (!cute.layout<"(8,4):(1,8)">, !cute.stride<"(1,2)">) -> i32
  func.return
}

// -----

// layouts and views

func.func @f(%v: !cute.shape<"(8,4)">, %t: !cute.tile<"[4:1;4:1]">) {
  // expected-error@+2 {{invalid input type, got '!cute.shape<"(8,4)">'}}
  // expected-error@+1 {{'cute.zipped_divide' op failed to infer returned types}}
  %r = cute.zipped_divide(%v, %t) : (!cute.shape<"(8,4)">, !cute.tile<"[4:1;4:1]">) -> i32
  func.return
}

// -----

// that have as many modes

func.func @f(%v: !cute.layout<"(8,4):(1,8)">, %t: !cute.tile<"[4:1;4:1;2:1]">) {
  // expected-error@+2 {{expects rank(tiler) <= rank(input), but got input='!cute.layout<"(8,4):(1,8)">' and tiler=#cute.tile<"[4:1;4:1;2:1]">}}
  // expected-error@+1 {{'cute.tiled_divide' op failed to infer returned types}}
  %r = cute.tiled_divide(%v, %t) : (!cute.layout<"(8,4):(1,8)">, !cute.tile<"[4:1;4:1;2:1]">) -> i32
  func.return
}

// -----

// and can be divided.

func.func @f(%v: !cute.layout<"(128,64):(1,128)">, %t: !cute.layout<"(3,5):(7,11)">) {
  // expected-error@+2 {{failed to perform a valid division of '!cute.layout<"(128,64):(1,128)">' by (3,5):(7,11): (3,5):(7,11) has no complement: its digits overlap, stride 11 lies below 21, where the digits of smaller strides end}}
  // expected-error@+1 {{'cute.flat_divide' op failed to infer returned types}}
  %r = cute.flat_divide(%v, %t) : (!cute.layout<"(128,64):(1,128)">, !cute.layout<"(3,5):(7,11)">) -> i32
  func.return
}

// -----

// Layouts are recast

func.func @f(%v: !cute.shape<"(8,4)">) {
  // expected-error@+2 {{expects `src` is LayoutTypeInterface, but got '!cute.shape<"(8,4)">'}}
  // expected-error@+1 {{'cute.recast_layout' op failed to infer returned types}}
  %r = cute.recast_layout(%v) <{new_type_bits = 8 : i32, old_type_bits = 16 : i32}> : (!cute.shape<"(8,4)">) -> i32
  func.return
}

// -----

// if their elements join.

func.func @f(%v: !cute.layout<"(3,4):(1,3)">) {
  // expected-error@+2 {{unable to recast layout (3,4):(1,3): upcast of (3,4):(1,3): neither of extent 3 and 2 divides the other}}
  // expected-error@+1 {{'cute.recast_layout' op failed to infer returned types}}
  %r = cute.recast_layout(%v) <{new_type_bits = 32 : i32, old_type_bits = 16 : i32}> : (!cute.layout<"(3,4):(1,3)">) -> i32
  func.return
}

// -----

// Elements that are not adjacent are seen by their first parts, as CuTe's `downcast` does.

func.func @f(%v: !cute.layout<"4:2">) {
  %r = cute.recast_layout(%v) <{new_type_bits = 8 : i32, old_type_bits = 16 : i32}> : (!cute.layout<"4:2">) -> !cute.layout<"4:4">
  func.return
}

// -----

// Layouts have inverses

func.func @f(%v: !cute.shape<"(8,4)">) {
  // expected-error@+2 {{expects an input of type layout or composed layout, but got '!cute.shape<"(8,4)">'}}
  // expected-error@+1 {{'cute.right_inverse' op failed to infer returned types}}
  %r = cute.right_inverse(%v) : (!cute.shape<"(8,4)">) -> i32
  func.return
}

// -----

// if their extents are known

func.func @f(%v: !cute.layout<"(?,4):(1,4)">) {
  // expected-error@+2 {{expects an input with static shape, but got '!cute.layout<"(?,4):(1,4)">'}}
  // expected-error@+1 {{'cute.right_inverse' op failed to infer returned types}}
  %r = cute.right_inverse(%v) : (!cute.layout<"(?,4):(1,4)">) -> i32
  func.return
}

// -----

// on both sides,

func.func @f(%v: !cute.layout<"(?,4):(1,4)">) {
  // expected-error@+2 {{input layout (?,4):(1,4) has a dynamic shape and is not supported.}}
  // expected-error@+1 {{'cute.left_inverse' op failed to infer returned types}}
  %r = cute.left_inverse(%v) : (!cute.layout<"(?,4):(1,4)">) -> i32
  func.return
}

// -----

// and their strides too.

func.func @f(%v: !cute.layout<"(8,4):(1,?)">) {
  // expected-error@+2 {{unable to compute a right inverse for input '!cute.layout<"(8,4):(1,?)">': ? is known at run time only, and this must be decided before}}
  // expected-error@+1 {{'cute.right_inverse' op failed to infer returned types}}
  %r = cute.right_inverse(%v) : (!cute.layout<"(8,4):(1,?)">) -> i32
  func.return
}

// -----

// Strides of layouts may be zero,

func.func @f(%v: !cute.shape<"(8,4)">) {
  // expected-error@+2 {{unable to filter zeros for input '!cute.shape<"(8,4)">'}}
  // expected-error@+1 {{'cute.filter_zeros' op failed to infer returned types}}
  %r = cute.filter_zeros(%v) : (!cute.shape<"(8,4)">) -> i32
  func.return
}

// -----

// in the profile of a shape

func.func @f(%v: !cute.layout<"(8,4):(1,8)">, %p: !cute.coord<"(8,4)">) {
  // expected-error@+2 {{expects a ShapeType for the target profile, but got '!cute.coord<"(8,4)">'}}
  // expected-error@+1 {{'cute.filter_zeros' op failed to infer returned types}}
  %r = cute.filter_zeros(%v, %p) : (!cute.layout<"(8,4):(1,8)">, !cute.coord<"(8,4)">) -> i32
  func.return
}

// -----

// like the layout's.

func.func @f(%v: !cute.layout<"(8,4):(1,8)">, %p: !cute.shape<"8">) {
  // expected-error@+2 {{Expects target_profile has the same profile with the src, but src_profile is: (8,4) and target_profile is: 8}}
  // expected-error@+1 {{'cute.filter_zeros' op failed to infer returned types}}
  %r = cute.filter_zeros(%v, %p) : (!cute.layout<"(8,4):(1,8)">, !cute.shape<"8">) -> i32
  func.return
}

// -----

// Zero divides nothing

func.func @f(%a: !cute.int_tuple<"(8,?)">, %b: !cute.int_tuple<"(0,2)">) {
  // expected-error@+2 {{arith div by zero is not supported, rhs '!cute.int_tuple<"(0,2)">'}}
  // expected-error@+1 {{'cute.tuple_div' op failed to infer returned types}}
  %r = cute.tuple_div(%a, %b) : (!cute.int_tuple<"(8,?)">, !cute.int_tuple<"(0,2)">) -> i32
  func.return
}

// -----

// and leaves no remainder.

func.func @f(%a: !cute.int_tuple<"(8,?)">, %b: !cute.int_tuple<"(2,0)">) {
  // expected-error@+2 {{arith mod by zero is not supported, rhs '!cute.int_tuple<"(2,0)">'}}
  // expected-error@+1 {{'cute.tuple_mod' op failed to infer returned types}}
  %r = cute.tuple_mod(%a, %b) : (!cute.int_tuple<"(8,?)">, !cute.int_tuple<"(2,0)">) -> i32
  func.return
}

// -----

// Underscores are no integers,

func.func @f(%a: !cute.coord<"(1,_)">) {
  // expected-error@+2 {{source must not have underscore, but got '!cute.coord<"(1,_)">'}}
  // expected-error@+1 {{'cute.to_int_tuple' op failed to infer returned types}}
  %r = cute.to_int_tuple(%a) : (!cute.coord<"(1,_)">) -> i32
  func.return
}

// -----

// nor are multiples of basis vectors.

func.func @f(%a: !cute.stride<"(1@0,1)">) {
  // expected-error@+2 {{source must not have scaled basis, but got '!cute.stride<"(1@0,1)">'}}
  // expected-error@+1 {{'cute.to_int_tuple' op failed to infer returned types}}
  %r = cute.to_int_tuple(%a) : (!cute.stride<"(1@0,1)">) -> i32
  func.return
}

// -----

// A coordinate has the profile of the layout.

func.func @f(%c: !cute.coord<"(1,2,3)">, %l: !cute.layout<"(8,4):(1,8)">) {
  // expected-error@+2 {{provided coordinate is not compatible with layout '!cute.layout<"(8,4):(1,8)">'}}
  // expected-error@+1 {{'cute.crd2idx' op failed to infer returned types}}
  %r = cute.crd2idx(%c, %l) : (!cute.coord<"(1,2,3)">, !cute.layout<"(8,4):(1,8)">) -> i32
  func.return
}

// -----

// It is one of a layout.

func.func @f(%c: !cute.coord<"(1,2)">, %l: !cute.shape<"(8,4)">) {
  // expected-error@+2 {{unable to compute crd2idx with '!cute.shape<"(8,4)">' and '!cute.coord<"(1,2)">'}}
  // expected-error@+1 {{'cute.crd2idx' op failed to infer returned types}}
  %r = cute.crd2idx(%c, %l) : (!cute.coord<"(1,2)">, !cute.shape<"(8,4)">) -> i32
  func.return
}

// -----

// Of two numbers one divides the other.

func.func @f(%a: !cute.shape<"(6,4)">, %b: !cute.shape<"(4,2)">) {
  // expected-error@+2 {{unable to compute shape_div for inputs '!cute.shape<"(6,4)">' and '!cute.shape<"(4,2)">'}}
  // expected-error@+1 {{'cute.shape_div' op failed to infer returned types}}
  %r = cute.shape_div(%a, %b) : (!cute.shape<"(6,4)">, !cute.shape<"(4,2)">) -> i32
  func.return
}

// -----

// Elements have bits that fill bytes,

func.func @f(%v: !cute.memref<f6E2M3FN, gmem, "(8,4):(1,8)">, %c: !cute.coord<"(1,2)">) {
  // expected-error@+2 {{unsupported element type, got 'f6E2M3FN', bitwidth: 6}}
  // expected-error@+1 {{'cute.memref.load' op failed to infer returned types}}
  %r = cute.memref.load(%v, %c) : (!cute.memref<f6E2M3FN, gmem, "(8,4):(1,8)">, !cute.coord<"(1,2)">) -> i32
  func.return
}

// -----

// are where threads load from,

func.func @f(%v: !cute.memref<f32, tmem, "(8,4):(1,8)">, %c: !cute.coord<"(1,2)">) {
  // expected-error@+2 {{unsupported address space for memref type, got '!cute.memref<f32, tmem, "(8,4):(1,8)">'}}
  // expected-error@+1 {{'cute.memref.load' op failed to infer returned types}}
  %r = cute.memref.load(%v, %c) : (!cute.memref<f32, tmem, "(8,4):(1,8)">, !cute.coord<"(1,2)">) -> i32
  func.return
}

// -----

// and i1 in registers only.

func.func @f(%v: !cute.memref<i1, smem, "(8,4):(1,8)">, %c: !cute.coord<"(1,2)">) {
  // expected-error@+2 {{i1 element type is only supported for tensors in rmem, but got '!cute.memref<i1, smem, "(8,4):(1,8)">'}}
  // expected-error@+1 {{'cute.memref.load' op failed to infer returned types}}
  %r = cute.memref.load(%v, %c) : (!cute.memref<i1, smem, "(8,4):(1,8)">, !cute.coord<"(1,2)">) -> i32
  func.return
}

// -----

// One element is loaded.

func.func @f(%v: !cute.memref<f32, gmem, "(8,4):(1,8)">, %c: !cute.coord<"(1,_)">) {
  // expected-error@+2 {{expects coordinate to be weakly congruent to the layout, but got '!cute.coord<"(1,_)">'}}
  // expected-error@+1 {{'cute.memref.load' op failed to infer returned types}}
  %r = cute.memref.load(%v, %c) : (!cute.memref<f32, gmem, "(8,4):(1,8)">, !cute.coord<"(1,_)">) -> i32
  func.return
}

// -----

// What is inferred is what is declared.

func.func @f(%v: !cute.layout<"(8,4):(1,8)">) {
  // expected-error@+1 {{'cute.size' op inferred type(s) '!cute.int_tuple<"32">' are incompatible with return type(s) of operation '!cute.int_tuple<"31">'}}
  %r = cute.size(%v) : (!cute.layout<"(8,4):(1,8)">) -> !cute.int_tuple<"31">
  func.return
}
