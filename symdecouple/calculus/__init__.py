"""What follows from a declaration: gradients, brackets, exact verdicts and their certificates."""
