"""What a verdict as a document is made of."""
