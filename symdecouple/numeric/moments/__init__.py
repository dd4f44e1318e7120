"""The moments' own way: power sums, orthogonal polynomials, the skewness flow, the moment path."""
