      %elected = cute_nvgpu.arch.elect_one
      scf.if %elected {
        %s0 = cutlass.pipeline.state.create "producer" : !state
        %sn = scf.for %i = %c0 to %blocks step %c1 iter_args(%at = %s0) -> (!state) {
          %k = arith.index_cast %i : index to i32
          %then = cutlass.pipeline.produce %pipe, %at bytes $SLOT : !pipe, !state -> !state {
          ^bb0(%stage: i32, %full: !cute.ptr<i64, smem>):
            %which = cute.make_coord(%k) : (i32) -> !cute.coord<"(_,?)">
            %slot = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,?)">
            %next_a = cute.slice(%from_a, %which) : !cute.view
            %next_b = cute.slice(%from_b, %which) : !cute.view
            %slot_a = cute.slice(%to_a, %slot) : !cute.view
            %slot_b = cute.slice(%to_b, %slot) : !cute.view
            %one_a = cute_nvgpu.atom.set_value %load_a["tma_bar"] = %full : !load_a, !cute.ptr<i64, smem> -> !load_a
            %one_b = cute_nvgpu.atom.set_value %load_b["tma_bar"] = %full : !load_b, !cute.ptr<i64, smem> -> !load_b
            cute.copy(%one_a, %next_a, %slot_a) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
            cute.copy(%one_b, %next_b, %slot_b) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
            cutlass.yield
          }
          scf.yield %then : !state
        }
        cutlass.pipeline.producer_tail %pipe, %sn : !pipe, !state
      }
