"""What a model may ask of the desk, and the files of other programs that come to it and leave it."""
