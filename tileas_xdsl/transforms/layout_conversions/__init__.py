"""The parts of `tileas-remove-layout-conversions`: two propagators, the clean-up and the sweep."""
