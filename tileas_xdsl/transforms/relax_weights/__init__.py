"""What `tileas-relax-weights` makes of scaled scores."""
