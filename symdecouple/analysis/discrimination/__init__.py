"""How well features tell laws apart."""
