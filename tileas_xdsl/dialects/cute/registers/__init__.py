"""Operations on fragments, the elements `vector<NxT>` that one thread holds in registers."""
