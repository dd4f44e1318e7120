"""Pictures of results. Matplotlib is optional, and loads when the first one is drawn."""
