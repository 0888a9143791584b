"""Implementation of `tileas-legalize-tmem-copy`."""
