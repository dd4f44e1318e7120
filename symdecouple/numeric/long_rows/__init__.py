"""One long sample at a level of its moments in little room: it is looked at in parts, and nothing is kept."""
