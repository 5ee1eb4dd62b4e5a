"""Process entry points: API, worker and command line."""

import gc

# An import of the product creates objects that live as long as the process. With the default threshold of 700 new
# objects, the collector walks the youngest of them 600 times, a fifth of the CPU time of a start.
GARBAGE_THRESHOLD = 10_000

gc.set_threshold(GARBAGE_THRESHOLD)
