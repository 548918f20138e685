"""Search and archive tools, and the adapters that read the world."""
