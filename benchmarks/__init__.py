"""Speed as a ratio to what one would run instead: one process, in turn, medians. Nothing here is asserted in a test."""
