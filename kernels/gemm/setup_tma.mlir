%half = arith.constant ${ROWS} : index
%piece = arith.constant ${PIECE} : index
%of_c = nv_tileas.make_tiled_tma_desc %c box[%piece, %half] {atom = #store_c} : !mc -> !desc
