// Two blocks, one below the other, multiply together: each loads half of B for both.
%rank = arith.remui %m, %two : index
%half_of_b = arith.constant ${HALF_B} : index
%first = arith.muli %rank, %half_of_b : index
%columns = arith.muli %n, %two : index
%column = arith.addi %columns, %rank : index
%mine = nv_tileas.extract_slice %sb[%first, 0][${HALF_B}, ${BK}][1, 1] : !bt -> tensor<${HALF_B}x${BK}x${AB}>
%la = nv_tileas.async.tiled_tma_load %of_a, %sa[%m, %k] barrier %barrier {atom = #load_a, tx_count = ${BYTES_A} : i32} : !desc, !a, index, index, !barrier -> !token
%lb = nv_tileas.async.tiled_tma_load %of_b, %mine[%column, %k] barrier %barrier {atom = #load_b, num_multicast = 2 : i32, tx_count = ${BYTES_HALF_B} : i32} : !desc, tensor<${HALF_B}x${BK}x${AB}>, index, index, !barrier -> !token
