// What atomic updates of tiles refuse, with the nearest thing that they accept.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// The mode is asked for before any other attribute.

!view = !nv_tileas.tiled_view<8x8xf32, gmem>

func.func @required(%v: !view, %x: tensor<8x8xf32>, %i: index) {
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op requires attribute 'rmw_mode'}}
  %0 = "nv_tileas.tiled_atomic_rmw"(%v, %x, %i, %i) <{operandSegmentSizes = array<i32: 1, 1, 2, 0>}> : (!view, tensor<8x8xf32>, index, index) -> tensor<8x8xf32>
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op requires attribute 'atom'}}
  %1 = "nv_tileas.tiled_atomic_rmw"(%v, %x, %i, %i) <{rmw_mode = #nv_tileas<rmw_mode add>, operandSegmentSizes = array<i32: 1, 1, 2, 0>}> : (!view, tensor<8x8xf32>, index, index) -> tensor<8x8xf32>
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op operandSegmentSizes does not match the op schema}}
  %2 = "nv_tileas.tiled_atomic_rmw"(%v, %x, %i, %i) <{atom = #nv_tileas<atom unknown_copy>, rmw_mode = #nv_tileas<rmw_mode add>, operandSegmentSizes = array<i32: 1, 1, 2>}> : (!view, tensor<8x8xf32>, index, index) -> tensor<8x8xf32>

  %ok = "nv_tileas.tiled_atomic_rmw"(%v, %x, %i, %i) <{atom = #nv_tileas<atom unknown_copy>, rmw_mode = #nv_tileas<rmw_mode add>, operandSegmentSizes = array<i32: 1, 1, 2, 0>}> : (!view, tensor<8x8xf32>, index, index) -> tensor<8x8xf32>
  func.return
}

// -----

// An atom that reduces, by the operation of the mode; a result like the tile.

!view = !nv_tileas.tiled_view<8x8xf32, gmem>

func.func @atoms(%v: !view, %s: !nv_tileas.tiled_view<8x8xf32, smem>, %x: tensor<8x8xf32>, %i: index) {
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op expects a tma_redg or unknown_copy atom, but got stg}}
  %0 = nv_tileas.tiled_atomic_rmw add %x, %v[%i, %i] {atom = #nv_tileas<atom stg>} : tensor<8x8xf32>, !view -> tensor<8x8xf32>
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op atom tma_redg_2d copies smem to gmem, but the destination is in smem}}
  %1 = nv_tileas.tiled_atomic_rmw add %x, %s[%i, %i] {atom = #nv_tileas<atom tma_redg_2d>} : tensor<8x8xf32>, !nv_tileas.tiled_view<8x8xf32, smem> -> tensor<8x8xf32>
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op rmw_mode is 'max', but the atom reduces by 'add'}}
  %2 = nv_tileas.tiled_atomic_rmw max %x, %v[%i, %i] {atom = #nv_tileas<atom tma_redg_2d<op = add>>} : tensor<8x8xf32>, !view -> tensor<8x8xf32>
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op takes a tile tensor<8x8xf32>, but gives tensor<8x4xf32>}}
  %3 = nv_tileas.tiled_atomic_rmw add %x, %v[%i, %i] {atom = #nv_tileas<atom unknown_copy>} : tensor<8x8xf32>, !view -> tensor<8x4xf32>

  %ok = nv_tileas.tiled_atomic_rmw max %x, %v[%i, %i] {atom = #nv_tileas<atom tma_redg_2d<op = max>>} : tensor<8x8xf32>, !view -> tensor<8x8xf32>
  func.return
}

// -----

// Any semantic, with a scope iff it is not weak.

!view = !nv_tileas.tiled_view<8x8xf32, gmem>
#any = #nv_tileas<atom unknown_copy>

func.func @ordering(%v: !view, %x: tensor<8x8xf32>, %i: index) {
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op memScope not supported when memSemantic is weak}}
  %0 = nv_tileas.tiled_atomic_rmw add %x, %v[%i, %i] weak gpu {atom = #any} : tensor<8x8xf32>, !view -> tensor<8x8xf32>
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op memScope required when memSemantic is not weak}}
  %1 = nv_tileas.tiled_atomic_rmw add %x, %v[%i, %i] acq_rel {atom = #any} : tensor<8x8xf32>, !view -> tensor<8x8xf32>
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op incorrect number of in_bounds elements: expected 2, but found 0}}
  %2 = nv_tileas.tiled_atomic_rmw add %x, %v[%i, %i] {atom = #any, in_bounds = array<i1>} : tensor<8x8xf32>, !view -> tensor<8x8xf32>

  %ok0 = nv_tileas.tiled_atomic_rmw add %x, %v[%i, %i] acquire cta {atom = #any} : tensor<8x8xf32>, !view -> tensor<8x8xf32>
  %ok1 = nv_tileas.tiled_atomic_rmw add %x, %v[%i, %i] release cluster {atom = #any} : tensor<8x8xf32>, !view -> tensor<8x8xf32>
  %ok2 = nv_tileas.tiled_atomic_rmw add %x, %v[%i, %i] acq_rel sys {atom = #any} : tensor<8x8xf32>, !view -> tensor<8x8xf32>
  func.return
}

// -----

// Element types and modes that there are no atomics for, in this order.

!v8 = !nv_tileas.tiled_view<8xi8, gmem>
!vf8 = !nv_tileas.tiled_view<8xf8E4M3FN, gmem>
!v16 = !nv_tileas.tiled_view<8xi16, gmem>
!vf16 = !nv_tileas.tiled_view<8xf16, gmem>
!vbf16 = !nv_tileas.tiled_view<8xbf16, gmem>
!v32 = !nv_tileas.tiled_view<8xf32, gmem>
#any = #nv_tileas<atom unknown_copy>

func.func @bans(%v8: !v8, %x8: tensor<8xi8>, %vf8: !vf8, %xf8: tensor<8xf8E4M3FN>, %v16: !v16, %x16: tensor<8xi16>, %vf16: !vf16, %xf16: tensor<8xf16>, %vbf16: !vbf16, %xbf16: tensor<8xbf16>, %v32: !v32, %x32: tensor<8xf32>, %i: index) {
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op tiled_atomic_rmw not supported for 8-bit types}}
  %0 = nv_tileas.tiled_atomic_rmw xchg %x8, %v8[%i] {atom = #any} : tensor<8xi8>, !v8 -> tensor<8xi8>
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op tiled_atomic_rmw not supported for 8-bit types}}
  %1 = nv_tileas.tiled_atomic_rmw add %xf8, %vf8[%i] {atom = #any} : tensor<8xf8E4M3FN>, !vf8 -> tensor<8xf8E4M3FN>
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op tiled_atomic_rmw not supported for 16-bit integer}}
  %2 = nv_tileas.tiled_atomic_rmw xchg %x16, %v16[%i] {atom = #any} : tensor<8xi16>, !v16 -> tensor<8xi16>
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op tiled_atomic_rmw for 16-bit float only supports add, max, min operations}}
  %3 = nv_tileas.tiled_atomic_rmw addf %xf16, %vf16[%i] {atom = #any} : tensor<8xf16>, !vf16 -> tensor<8xf16>
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op tiled_atomic_rmw for 16-bit float only supports add, max, min operations}}
  %4 = nv_tileas.tiled_atomic_rmw xchg %xbf16, %vbf16[%i] {atom = #any} : tensor<8xbf16>, !vbf16 -> tensor<8xbf16>
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op tiled_atomic_rmw op cannot use fadd operation, please use add instead for both int and float types}}
  %5 = nv_tileas.tiled_atomic_rmw addf %x32, %v32[%i] {atom = #any} : tensor<8xf32>, !v32 -> tensor<8xf32>
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op tiled_atomic_rmw op cannot use xchg operation}}
  %6 = nv_tileas.tiled_atomic_rmw xchg %x32, %v32[%i] {atom = #any} : tensor<8xf32>, !v32 -> tensor<8xf32>
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op rmw_mode 'xor' is for integers, but elements are f32}}
  %7 = nv_tileas.tiled_atomic_rmw xor %x32, %v32[%i] {atom = #any} : tensor<8xf32>, !v32 -> tensor<8xf32>

  %ok0 = nv_tileas.tiled_atomic_rmw min %xf16, %vf16[%i] {atom = #any} : tensor<8xf16>, !vf16 -> tensor<8xf16>
  %ok1 = nv_tileas.tiled_atomic_rmw add %x32, %v32[%i] {atom = #any} : tensor<8xf32>, !v32 -> tensor<8xf32>
  func.return
}

// -----

// The TMA form.

!desc = !nv_tileas.tma_desc
!smem = !nv_tileas.tiled_view<8x8xf32, smem>

func.func @async(%d: !desc, %s: !smem, %b: !nv_tileas.tiled_view<16x16xi8, smem>, %i: index) {
  // expected-error@+1 {{'nv_tileas.async.tiled_atomic_rmw' op requires attribute 'rmw_mode'}}
  %0 = "nv_tileas.async.tiled_atomic_rmw"(%d, %s, %i, %i) <{atom = #nv_tileas<atom tma_redg_2d>, operandSegmentSizes = array<i32: 1, 1, 2>}> : (!desc, !smem, index, index) -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_atomic_rmw' op expect a tma_redg atom type}}
  %1 = nv_tileas.async.tiled_atomic_rmw add %d, %s[%i, %i] {atom = #nv_tileas<atom tma_store_2d>} : !desc, !smem, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_atomic_rmw' op TmaReduceOp do not support SCATTER4 mode}}
  %2 = nv_tileas.async.tiled_atomic_rmw add %d, %s[%i, %i] {atom = #nv_tileas<atom tma_redg_2d<mode = scatter4>>} : !desc, !smem, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_atomic_rmw' op rmw_mode is 'min', but the atom reduces by 'add'}}
  %3 = nv_tileas.async.tiled_atomic_rmw min %d, %s[%i, %i] {atom = #nv_tileas<atom tma_redg_2d>} : !desc, !smem, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_atomic_rmw' op tiled_atomic_rmw not supported for 8-bit types}}
  %4 = nv_tileas.async.tiled_atomic_rmw add %d, %b[%i, %i] {atom = #nv_tileas<atom tma_redg_2d>} : !desc, !nv_tileas.tiled_view<16x16xi8, smem>, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_atomic_rmw' op does not support attribute 'padding_value'}}
  %5 = nv_tileas.async.tiled_atomic_rmw add %d, %s[%i, %i] {atom = #nv_tileas<atom tma_redg_2d>, padding_value = 0.0 : f32} : !desc, !smem, index, index -> !nv_tileas.token

  %ok = nv_tileas.async.tiled_atomic_rmw add %d, %s[%i, %i] {atom = #nv_tileas<atom tma_redg_2d>} : !desc, !smem, index, index -> !nv_tileas.token
  func.return
}

// -----

// Elements that hardware updates, and an operand for all that the mode needs.

!v1 = !nv_tileas.tiled_view<8xi1, gmem>
!v4 = !nv_tileas.tiled_view<8xf4E2M1FN, gmem>
!vi = !nv_tileas.tiled_view<8xindex, gmem>
!v32 = !nv_tileas.tiled_view<8xi32, gmem>
!v64 = !nv_tileas.tiled_view<8xf64, gmem>
#any = #nv_tileas<atom unknown_copy>

func.func @elements(%v1: !v1, %x1: tensor<8xi1>, %v4: !v4, %x4: tensor<8xf4E2M1FN>, %vi: !vi, %xi: tensor<8xindex>, %v32: !v32, %x32: tensor<8xi32>, %v64: !v64, %x64: tensor<8xf64>, %i: index) {
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op updates elements of type f16 or bf16 or f32 or f64 or i32 or i64, not i1}}
  %0 = nv_tileas.tiled_atomic_rmw and %x1, %v1[%i] {atom = #any} : tensor<8xi1>, !v1 -> tensor<8xi1>
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op updates elements of type f16 or bf16 or f32 or f64 or i32 or i64, not f4E2M1FN}}
  %1 = nv_tileas.tiled_atomic_rmw add %x4, %v4[%i] {atom = #any} : tensor<8xf4E2M1FN>, !v4 -> tensor<8xf4E2M1FN>
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op updates elements of type f16 or bf16 or f32 or f64 or i32 or i64, not index}}
  %2 = nv_tileas.tiled_atomic_rmw add %xi, %vi[%i] {atom = #any} : tensor<8xindex>, !vi -> tensor<8xindex>
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op rmw_mode 'cmpxchg' compares with a value, but there is none}}
  %3 = nv_tileas.tiled_atomic_rmw cmpxchg %x32, %v32[%i] {atom = #any} : tensor<8xi32>, !v32 -> tensor<8xi32>
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op TmaReduceOp do not support SCATTER4 mode}}
  %4 = nv_tileas.tiled_atomic_rmw add %x32, %v32[%i] {atom = #nv_tileas<atom tma_redg_1d<mode = scatter4>>} : tensor<8xi32>, !v32 -> tensor<8xi32>
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op rmw_mode is 'umin', but the atom reduces by 'max'}}
  %5 = nv_tileas.tiled_atomic_rmw umin %x32, %v32[%i] {atom = #nv_tileas<atom tma_redg_1d<op = max>>} : tensor<8xi32>, !v32 -> tensor<8xi32>

  %ok0 = nv_tileas.tiled_atomic_rmw add %x64, %v64[%i] {atom = #any} : tensor<8xf64>, !v64 -> tensor<8xf64>
  %ok1 = nv_tileas.tiled_atomic_rmw umin %x32, %v32[%i] {atom = #nv_tileas<atom tma_redg_1d<op = min>>} : tensor<8xi32>, !v32 -> tensor<8xi32>
  %ok2 = nv_tileas.tiled_atomic_rmw add %x32, %v32[%i] {atom = #nv_tileas<atom tma_redg_1d>} : tensor<8xi32>, !v32 -> tensor<8xi32>
  func.return
}
