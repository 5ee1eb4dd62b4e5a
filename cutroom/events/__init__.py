"""Events: the log of each library, and its live fan-out to the processes that follow it."""
