"""The tests of `ltn`."""

import gc

# Imports and traces make objects by the thousand, nearly all of which live on: looking for garbage after each
# 700 of them takes a twentieth of the time.
gc.set_threshold(100_000, 20, 100)
