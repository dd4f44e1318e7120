"""All levels of the moments, one after the other, and the gradients on the way back."""
