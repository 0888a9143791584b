// C = A * B: a tile of ${BM}x${BN} for each block, $VARIANT.
// Agent 0 loads tiles of A and B by TMA into ${STAGES} stages; agents 1 and 2 each multiply half of the
// rows.  Block x is the column of tiles, y the row; what is out of bounds reads as zero.

!ma = memref<?x?x${AB}>
!mc = memref<?x?x${C}>
!a = tensor<${BM}x${BK}x${AB}>
!half = tensor<${HALF}x${BK}x${AB}>
!b = tensor<${BK}x${BN}x${AB}>
!acc = tensor<${HALF}x${BN}xf32>
!buffer = tensor<${STAGES}x${SLOT}x${AB}, #nv_tileas<space smem>>
!slots = !nv_tileas.tiled_view<${STAGES}x${SLOT}x${AB}, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tuple<!a, !b>, ${STAGES}, smem>
!desc = !nv_tileas.tma_desc
!token = !nv_tileas.token
!sum = !nv_tileas.token<!acc>
!barrier = !nv_tileas.mem_token
#load_a = #nv_tileas<atom tma_load_2d<box = [${BK}, ${BOX_A}]${MULTICAST}>>
#load_b = #nv_tileas<atom tma_load_2d<box = [${BN}, ${BK}]>>
#mma = #nv_tileas<atom ${INSTRUCTION}_${WORD}_${WORD}_f32>
$STORE_TYPES

func.func @gemm(%a: !ma, %b: !ma, %c: !mc)
    attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 12${CLUSTER}>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %bn = arith.constant ${BN} : index
  %bk = arith.constant ${BK} : index
  %box_a = arith.constant ${BOX_A} : index
  %nothing = arith.constant dense<0.0> : !acc
  %n = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %m = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %depth = memref.dim %a, %one : !ma
  %tiles = arith.ceildivui %depth, %bk : index

  %of_a = nv_tileas.make_tiled_tma_desc %a box[%bk, %box_a] {atom = #load_a${NUM_MULTICAST}} : !ma -> !desc
  %of_b = nv_tileas.make_tiled_tma_desc %b box[%bn, %bk] {atom = #load_b} : !ma -> !desc
  $STORE_SETUP
  %barrier = nv_tileas.create_none : !barrier
  %buffer = nv_tileas.alloc_tensor : !buffer
  %slots = nv_tileas.view %buffer : !buffer -> !slots
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %slots {numStages = ${STAGES} : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !slots -> !prod, !cons

  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 2 : i32, max_regs = array<i32: 40, 232, 232>, isolated = false} agent 0 {
    $PRODUCER
  }, agent 1 {
    $CONSUMER_0
  }, agent 2 {
    $CONSUMER_1
  }
  func.return
}
