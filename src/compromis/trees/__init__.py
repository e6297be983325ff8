"""Trees grown from tables: arrays in, arrays out."""
