"""Functions of rows: values, gradients and directional derivatives of declared features."""
