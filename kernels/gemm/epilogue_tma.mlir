// Piece by piece through one tile of shared memory.
%memory = nv_tileas.alloc_tensor : tensor<${HALF}x${PIECE}x${C}, #nv_tileas<space smem>>
%staging = nv_tileas.view %memory : tensor<${HALF}x${PIECE}x${C}, #nv_tileas<space smem>> -> !staging
%halves = arith.muli %m, %two : index
%consumer = arith.constant ${INDEX} : index
%row = arith.addi %halves, %consumer : index
%pieces = arith.constant ${PIECES} : index
%first_piece = arith.muli %n, %pieces : index
scf.for %q = %zero to %pieces step %one {
  %column = arith.muli %q, %piece : index
  %${PART} = nv_tileas.extract_slice %acc[0, %column][${HALF}, ${PIECE}][1, 1] : !acc -> !part
  $ROUND_PIECE
  nv_tileas.tiled_store %${RESULT_PIECE}, %staging[%zero, %zero] {atom = #sts} : !piece, !staging
  %at = arith.addi %first_piece, %q : index
  %storing = nv_tileas.async.tiled_tma_store %of_c, %staging[%row, %at] {atom = #store_c} : !desc, !staging, index, index -> !token
  nv_tileas.async.wait %storing : !token
}
