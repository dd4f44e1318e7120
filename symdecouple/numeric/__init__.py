"""Arrays in, arrays out: batches of samples, their moments and the flows that normalize them."""
