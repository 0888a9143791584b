// Piece by piece through one tile of shared memory.
%parts = arith.constant ${CONSUMERS} : index
%first_part = arith.muli %m, %parts : index
%consumer = arith.constant ${INDEX} : index
%row = arith.addi %first_part, %consumer : index
%pieces = arith.constant ${PIECES} : index
%first_piece = arith.muli %n, %pieces : index
scf.for %q = %zero to %pieces step %one {
  %column = arith.muli %q, %piece : index
  %${PART} = nv_tileas.extract_slice %acc[0, %column][${ROWS}, ${PIECE}][1, 1] : !acc -> !part
  $ROUND_PIECE
  nv_tileas.tiled_store %stored, %staging[%zero, %zero] {atom = #sts} : !piece, !staging
  %at = arith.addi %first_piece, %q : index
  %storing = nv_tileas.async.tiled_tma_store %of_c, %staging[%row, %at] {atom = #store_c} : !desc, !staging, index, index -> !token
  nv_tileas.async.wait %storing : !token
}
