"""The embedded model that researches by rules, without a network or a key."""
