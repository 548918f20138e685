"""Pure values of a research run and the rules between them."""
