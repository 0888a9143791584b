// C = A * B: a tile of ${BM}x${BN} for each block, $VARIANT.
// Agent 0 loads tiles of A and B by TMA into ${STAGES} stages; $SHARES
// ${PLACES}; what is out of bounds reads as zero.

!ma = memref<?x?x${AB}>
!mc = memref<?x?x${C}>
!a = tensor<${BM}x${BK}x${AB}>
!half = tensor<${ROWS}x${BK}x${AB}>
!b = tensor<${BK}x${BN}x${AB}${B_ENCODING}>
$B_TYPES
!acc = tensor<${ROWS}x${BN}xf32>
!buffer = tensor<${STAGES}x${SLOT}x${AB}, #nv_tileas<space smem>>
!slots = !nv_tileas.tiled_view<${STAGES}x${SLOT}x${AB}, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tuple<!a, ${B}>, ${STAGES}, smem>
!desc = !nv_tileas.tma_desc
!token = !nv_tileas.token
!sum = !nv_tileas.token<!acc>
!barrier = !nv_tileas.mem_token
#load_a = #nv_tileas<atom tma_load_2d<box = [${BK}, ${BOX_A}]${MULTICAST}>>
#load_b = #nv_tileas<atom tma_load_2d<box = [${BOX_B}]${MULTICAST_B}>>
#mma = #nv_tileas<atom ${INSTRUCTION}_${WORD}_${WORD}_f32${PAIRED}>
$STORE_TYPES

func.func @gemm(%a: !ma, %b: !ma, %c: !mc)
    attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = ${WARPS}${CLUSTER}>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %bm = arith.constant ${BM} : index
  %bn = arith.constant ${BN} : index
  %bk = arith.constant ${BK} : index
  %box_a = arith.constant ${BOX_A} : index
  %nothing = arith.constant dense<0.0> : !acc
  $PAIR_BOX
  $PLACE
  %depth = memref.dim %a, %one : !ma
  %tiles = arith.ceildivui %depth, %bk : index

  %of_a = nv_tileas.make_tiled_tma_desc %a box[%bk, %box_a] {atom = #load_a${NUM_MULTICAST}} : !ma -> !desc
  %of_b = nv_tileas.make_tiled_tma_desc %b box[${BOX_OF_B}] {atom = #load_b${NUM_MULTICAST_B}} : !ma -> !desc
  $STORE_SETUP
  %barrier = nv_tileas.create_none : !barrier
  %buffer = nv_tileas.alloc_tensor : !buffer
  %slots = nv_tileas.view %buffer : !buffer -> !slots
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %slots {numStages = ${STAGES} : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !slots -> !prod, !cons

  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = ${CONSUMERS} : i32, max_regs = array<i32: ${REGISTERS}>, isolated = false} agent 0 {
    $PRODUCER
  $CONSUMER_AGENTS
  }
  func.return
}
