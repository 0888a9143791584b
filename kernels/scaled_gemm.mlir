// C = (A * SFA) * (B * SFB)^T: a tile of ${BM}x${BN} for each block, ${VARIANT}.
// Rows of A (M x K) and of B (N x K) have a scale for every ${BLOCK} elements.  Scales come as
// atoms of 128 rows by 4 scales, 512 bytes each: [rows / 128, K / ${ATOM_K}, 2, 256].
// Agent 0 loads all four by TMA into ${STAGES} stages, agent 1 multiplies them.

!ma = memref<?x?x${AB}>
!ms = memref<?x?x2x256x${SF}>
!mc = memref<?x?xf32>
!a = tensor<${BM}x${BK}x${AB}>
!bt = tensor<${BN}x${BK}x${AB}>
!b = tensor<${BK}x${BN}x${AB}, #nv_tileas.shared<(${BK},${BN}),(1,${BK})>>
!ta = tensor<${ATOMS_A}x${ATOMS_K}x2x256x${SF}>
!tb = tensor<${ATOMS_B}x${ATOMS_K}x2x256x${SF}>
!sfa = tensor<${BM}x${SCALES}x${SF}, #nv_tileas.shared<((32,4,${ATOMS_A}),(4,${ATOMS_K})),((16,4,${ROW}),(1,512))>>
!sfb = tensor<${SCALES}x${BN}x${SF}, #nv_tileas.shared<((4,${ATOMS_K}),(32,4,${ATOMS_B})),((1,512),(16,4,${ROW}))>>
!acc = tensor<${BM}x${BN}xf32>
!buffer = tensor<${STAGES}x${SLOT}x${AB}, #nv_tileas<space smem>>
!slots = !nv_tileas.tiled_view<${STAGES}x${SLOT}x${AB}, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tuple<!a, !bt, !ta, !tb>, ${STAGES}, smem>
!desc = !nv_tileas.tma_desc
!token = !nv_tileas.token
!barrier = !nv_tileas.mem_token
!part = tensor<${BM}x${PIECE}xf32>
!window = !nv_tileas.tiled_view<${BM}x${PIECE}xf32, gmem>
#load_a = #nv_tileas<atom tma_load_2d<box = [${BK}, ${BM}]>>
#load_b = #nv_tileas<atom tma_load_2d<box = [${BK}, ${BN}]>>
#load_sfa = #nv_tileas<atom tma_load_4d<box = [256, 2, ${ATOMS_K}, ${ATOMS_A}]>>
#load_sfb = #nv_tileas<atom tma_load_4d<box = [256, 2, ${ATOMS_K}, ${ATOMS_B}]>>
#mma = #nv_tileas<atom tcgen05_${WORD}_${WORD}_f32<scale_vector = ${BLOCK}>>
#stg = #nv_tileas<atom stg>

func.func @${NAME}(%a: !ma, %b: !ma, %sfa: !ms, %sfb: !ms, %c: !mc)
    attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %row_of_bytes = arith.constant 256 : index
  %bm = arith.constant ${BM} : index
  %bn = arith.constant ${BN} : index
  %bk = arith.constant ${BK} : index
  %atoms_k = arith.constant ${ATOMS_K} : index
  %atoms_a = arith.constant ${ATOMS_A} : index
  %atoms_b = arith.constant ${ATOMS_B} : index
  %nothing = arith.constant dense<0.0> : !acc
  %n = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %m = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %depth = memref.dim %a, %one : !ma
  %tiles = arith.ceildivui %depth, %bk : index

  %of_a = nv_tileas.make_tiled_tma_desc %a box[%bk, %bm] {atom = #load_a} : !ma -> !desc
  %of_b = nv_tileas.make_tiled_tma_desc %b box[%bk, %bn] {atom = #load_b} : !ma -> !desc
  %of_sfa = nv_tileas.make_tiled_tma_desc %sfa box[%row_of_bytes, %two, %atoms_k, %atoms_a] {atom = #load_sfa} : !ms -> !desc
  %of_sfb = nv_tileas.make_tiled_tma_desc %sfb box[%row_of_bytes, %two, %atoms_k, %atoms_b] {atom = #load_sfb} : !ms -> !desc
  %barrier = nv_tileas.create_none : !barrier
  %buffer = nv_tileas.alloc_tensor : !buffer
  %slots = nv_tileas.view %buffer : !buffer -> !slots
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %slots {numStages = ${STAGES} : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !slots -> !prod, !cons

  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 40, 232>, isolated = false} agent 0 {
    %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
    %pn, %in = scf.for %k = %zero to %tiles step %one iter_args(%p = %p0, %i = %i0) -> (!prod, !iter) {
      %p1, %filled = nv_tileas.async.pipeline.produce_one_async %p, %i {producer_types = [!a, !bt, !ta, !tb]} : (!prod, !iter) -> (!prod, !token) {
      ^bb0(%sa: !a, %sb: !bt, %ssa: !ta, %ssb: !tb):
        %la = nv_tileas.async.tiled_tma_load %of_a, %sa[%m, %k] barrier %barrier {atom = #load_a, tx_count = ${BYTES_A} : i32} : !desc, !a, index, index, !barrier -> !token
        %lb = nv_tileas.async.tiled_tma_load %of_b, %sb[%n, %k] barrier %barrier {atom = #load_b, tx_count = ${BYTES_B} : i32} : !desc, !bt, index, index, !barrier -> !token
        %lsa = nv_tileas.async.tiled_tma_load %of_sfa, %ssa[%m, %k, %zero, %zero] barrier %barrier {atom = #load_sfa, tx_count = ${BYTES_SFA} : i32} : !desc, !ta, index, index, index, index, !barrier -> !token
        %lsb = nv_tileas.async.tiled_tma_load %of_sfb, %ssb[%n, %k, %zero, %zero] barrier %barrier {atom = #load_sfb, tx_count = ${BYTES_SFB} : i32} : !desc, !tb, index, index, index, index, !barrier -> !token
        nv_tileas.async.pipeline.yield %sa, %sb, %ssa, %ssb : !a, !bt, !ta, !tb
      }
      %p2 = nv_tileas.async.pipeline.producer_commit %p1 : !prod -> !prod
      %i1 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
      scf.yield %p2, %i1 : !prod, !iter
    }
  }, agent 1 {
    %j0 = nv_tileas.async.pipeline.create_iterator %c0 : !cons -> !iter
    %cn, %jn, %acc = scf.for %k = %zero to %tiles step %one iter_args(%t = %c0, %j = %j0, %before = %nothing) -> (!cons, !iter, !acc) {
      %t1, %after = nv_tileas.async.pipeline.consume_one %t, %j {consumer_idx = 0 : i32, consumer_types = [!a, !bt, !ta, !tb]} : (!cons, !iter) -> (!cons, !acc) {
      ^bb0(%sa: !a, %sb: !bt, %ssa: !ta, %ssb: !tb):
        %of_rows = nv_tileas.view %sb : !bt -> !b
        %scales_a = nv_tileas.view %ssa : !ta -> !sfa
        %scales_b = nv_tileas.view %ssb : !tb -> !sfb
        %sum = nv_tileas.block_scaled_mma %sa, %of_rows, %before scales(%scales_a : !sfa, %scales_b : !sfb) {atom = #mma} : !a, !b, !acc -> !acc
        nv_tileas.async.pipeline.yield %sum : !acc
      }
      %j1 = nv_tileas.async.pipeline.inc_iter %j : !iter -> !iter
      scf.yield %t1, %j1, %after : !cons, !iter, !acc
    }
    // Piece by piece: a thread has not registers for all of its sums.
    %row = arith.muli %m, %bm : index
    %first_column = arith.muli %n, %bn : index
    %piece = arith.constant ${PIECE} : index
    %pieces = arith.constant ${PIECES} : index
    scf.for %q = %zero to %pieces step %one {
      %column = arith.muli %q, %piece : index
      %part = nv_tileas.extract_slice %acc[0, %column][${BM}, ${PIECE}][1, 1] : !acc -> !part
      %at = arith.addi %first_column, %column : index
      %mine = nv_tileas.view %c[%row, %at] : !mc -> !window
      nv_tileas.tiled_store %part, %mine[%zero, %zero] {atom = #stg} : !part, !window
    }
  }
  func.return
}
