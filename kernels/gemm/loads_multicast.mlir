// Each block of the cluster loads half of A for both.
%rank = arith.remui %n, %two : index
%first = arith.muli %rank, %box_a : index
%rows = arith.muli %m, %two : index
%row = arith.addi %rows, %rank : index
%mine = nv_tileas.extract_slice %sa[%first, 0][${BOX_A}, ${BK}][1, 1] : !a -> tensor<${BOX_A}x${BK}x${AB}>
%la = nv_tileas.async.tiled_tma_load %of_a, %mine[%row, %k] barrier %barrier {atom = #load_a, num_multicast = 2 : i32, tx_count = ${BYTES_A} : i32} : !desc, tensor<${BOX_A}x${BK}x${AB}>, index, index, !barrier -> !token
%lb = nv_tileas.async.tiled_tma_load %of_b, %sb[${AT_B}] barrier %barrier {atom = #load_b, tx_count = ${BYTES_B} : i32} : !desc, ${B}, index, index, !barrier -> !token
