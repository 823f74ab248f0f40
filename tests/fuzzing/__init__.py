"""Random texts and random theories: what holds for all of them. `make fuzz` searches at length."""
