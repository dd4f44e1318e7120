"""Which values features can take, and which references can be reached."""
