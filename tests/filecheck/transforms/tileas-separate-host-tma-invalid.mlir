// What `tileas-separate-host-tma` refuses.  Each time the module stays as it was.

// RUN: tileas-opt %s -p tileas-separate-host-tma --split-input-file --verify-diagnostics

// Capture rules: what a host would have to compute.

func.func @math(%a: memref<?x64xf16>, %n: i64) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %m = math.absi %n : i64
  %i = arith.index_cast %m : i64 to index
  %w = nv_tileas.view %a[%i, %c0] : memref<?x64xf16> -> !nv_tileas.tiled_view<8x64xf16, gmem>
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op math dialect not suppourt in separateHostTMA pass in the moment.}}
  %d = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<8x64xf16, gmem> -> !nv_tileas.tma_desc
  func.return
}

// -----

// Of floats as of integers, and through the conversions around them.

func.func @math_of_floats(%a: memref<?x64xf16>, %n: f32) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %e = math.exp %n : f32
  %m = arith.fptosi %e : f32 to i64
  %i = arith.index_cast %m : i64 to index
  %w = nv_tileas.view %a[%i, %c0] : memref<?x64xf16> -> !nv_tileas.tiled_view<8x64xf16, gmem>
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op math dialect not suppourt in separateHostTMA pass in the moment.}}
  %d = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<8x64xf16, gmem> -> !nv_tileas.tma_desc
  func.return
}

// -----

// A map of columns of pixels without the corners of their boxes.

func.func @im2col(%a: memref<8x8x8xf16>) {
  %c8 = arith.constant 8 : index
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op is of columns of pixels, and says no corners of them}}
  %d = nv_tileas.make_tiled_tma_desc %a box[%c8, %c8, %c8] {atom = #nv_tileas<atom tma_load_3d>, mode = "im2col"} : memref<8x8x8xf16> -> !nv_tileas.tma_desc
  func.return
}

// -----

func.func @memory_of_the_block(%a: memref<8x8xf32>) {
  %c8 = arith.constant 8 : index
  // expected-error@+1 {{'nv_tileaa.alloca' op is memory of each block, for which host code gives a launch no room: compile without host code}}
  %p = nv_tileaa.alloca num_elem = 64, alignment = 16 : !nv_tileaa.ptr<f32, 1>
  %d = nv_tileas.make_tiled_tma_desc %a box[%c8, %c8] {atom = #nv_tileas<atom tma_load_2d>} : memref<8x8xf32> -> !nv_tileas.tma_desc
  func.return
}

// -----

// A descriptor that a host could make, in a function that says that it has its descriptors.

func.func @left(%a: memref<8x8xf32>) attributes {"nv_tileas.num-host-tmas" = 1 : i32, "nv_tileas.num-device-tmas" = 1 : i32} {
  %c8 = arith.constant 8 : index
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op expect lower MakeTiledTMADescOp}}
  %d = nv_tileas.make_tiled_tma_desc %a box[%c8, %c8] {atom = #nv_tileas<atom tma_load_2d>, tmaIdx = 0 : i32} : memref<8x8xf32> -> !nv_tileas.tma_desc
  func.return
}

// -----

// expected-error@+1 {{'func.func' op has its descriptors already; host code is separated before they are attached}}
func.func @attached(%a: memref<8x8xf32>, %d: !nv_tileas.tma_desc {cute_nvgpu.grid_constant}) attributes {"nv_tileas.num-host-tmas" = 1 : i32, "nv_tileas.num-device-tmas" = 0 : i32} {
  func.return
}

// -----

func.func @tile(%v: !nv_tileas.tiled_view<64x64xf16, gmem>) {
  %c8 = arith.constant 8 : index
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op describes !nv_tileas.tiled_view<64x64xf16, gmem>, not an array argument from a beginning of its own on}}
  %d = nv_tileas.make_tiled_tma_desc %v box[%c8, %c8] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> !nv_tileas.tma_desc
  func.return
}

// -----

// What the driver would refuse whatever a launch passes, and what the target lacks.

func.func @maps(%a: memref<8x8xf32>, %b: memref<8x8xi2>, %n: index) {
  %c8 = arith.constant 8 : index
  %c256 = arith.constant 256 : index
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op has a box whose extents are not constants}}
  %0 = nv_tileas.make_tiled_tma_desc %a box[%c8, %n] {atom = #nv_tileas<atom tma_load_2d>} : memref<8x8xf32> -> !nv_tileas.tma_desc
  func.return
}

// -----

func.func @shared(%a: memref<?x?xf32>) {
  %c256 = arith.constant 256 : index
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op tensor map: the box takes 262144 bytes; a block of sm_90a has 232448 to share}}
  %0 = nv_tileas.make_tiled_tma_desc %a box[%c256, %c256] {atom = #nv_tileas<atom tma_load_2d>} : memref<?x?xf32> -> !nv_tileas.tma_desc
  func.return
}

// -----

func.func @constant(%a: memref<?x?xf32>) {
  %c8 = arith.constant 8 : index
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op fills with a constant what is out of bounds; hardware has zero and NaN}}
  %0 = nv_tileas.make_tiled_tma_desc %a box[%c8, %c8] {atom = #nv_tileas<atom tma_load_2d>, oob_mode = #nv_tileas<oob_mode constant>} : memref<?x?xf32> -> !nv_tileas.tma_desc
  func.return
}

// -----

func.func @width(%a: memref<?x?xf32>) {
  %c8 = arith.constant 8 : index
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op moves elements f16, not as wide as those of the view}}
  %0 = nv_tileas.make_tiled_tma_desc %a box[%c8, %c8] {atom = #nv_tileas<atom tma_load_2d>, tma_internal_type = f16} : memref<?x?xf32> -> !nv_tileas.tma_desc
  func.return
}

// -----

// The templates of maps that blocks change fill the parameters of a kernel: there is room for 32.

!window = !nv_tileas.tiled_view<8x64xf16, gmem>
#load = #nv_tileas<atom tma_load_2d>

// expected-error@+1 {{too many device TMA descriptors}}
func.func @many(%a: memref<?x64xf16>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %block = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %w = nv_tileas.view %a[%block, %c0] : memref<?x64xf16> -> !window
  %d0 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d1 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d2 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d3 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d4 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d5 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d6 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d7 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d8 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d9 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d10 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d11 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d12 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d13 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d14 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d15 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d16 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d17 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d18 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d19 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d20 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d21 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d22 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d23 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d24 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d25 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d26 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d27 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d28 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d29 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d30 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d31 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  %d32 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #load} : !window -> !nv_tileas.tma_desc
  func.return
}
