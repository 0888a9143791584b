%bm = arith.constant ${BM} : index
