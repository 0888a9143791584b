%${PART}${Q} = nv_tileas.extract_slice %acc[0, ${COLUMN}][${ROWS}, ${PIECE}][1, 1] : !acc -> !part
$ROUND_PIECE
nv_tileas.tiled_store %stored${Q}, %staging[%zero, %zero] {atom = #sts} : !piece, !staging
%at${Q} = arith.addi %first_piece, %q${Q} : index
%storing${Q} = nv_tileas.async.tiled_tma_store %of_c, %staging[%row, %at${Q}] {atom = #store_c} : !desc, !staging, index, index -> !token
nv_tileas.async.wait %storing${Q} : !token
