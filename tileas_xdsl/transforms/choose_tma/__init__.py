"""Implementation of `tileas-choose-tma`: legality of TMA, and stores of accumulators."""
