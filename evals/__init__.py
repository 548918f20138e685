"""Tasks and metrics that measure research runs."""
