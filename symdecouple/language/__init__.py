"""What a feature is: the generic sample, means, filters, features, their canonical form and their text."""
