"""When and how numba compiles, and how rows are spread over threads."""
