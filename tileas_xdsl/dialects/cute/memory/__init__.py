"""Operations on memory: pointers, views, partitions of views, globals of the module."""
