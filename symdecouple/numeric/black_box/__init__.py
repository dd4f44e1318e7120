"""Features that are only a callable: asked for numbers, moved along, and looked at on samples."""

from symdecouple.numeric.black_box.rows import BlackBoxFeatures, BlackBoxPath, path_of

__all__ = ["BlackBoxFeatures", "BlackBoxPath", "path_of"]
