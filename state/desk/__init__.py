"""The desk: files, what may be done to them, and who decides, as values and pure transitions."""
