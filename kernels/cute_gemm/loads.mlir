%offset = arith.muli %stage, %slot_bytes : i32
%to_a = cute.add_offset %tiles, %offset : !tile, i32 -> !tile
%behind = arith.constant $BYTES_A : i32
%to_b = cute.add_offset %to_a, %behind : !tile, i32 -> !tile
%block = arith.index_cast %i : index to i32
%from = arith.muli %block, %bk : i32
cute_nvgpu.arch.copy.SM90.tma_load %a[%from, %row] to %to_a, %full : !tile, !barrier
cute_nvgpu.arch.copy.SM90.tma_load %b[%from, %col] to %to_b, %full : !tile, !barrier
