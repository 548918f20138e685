"""What a model may ask for, and the one door it asks through."""
