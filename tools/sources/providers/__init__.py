"""Search providers: what can be asked for documents beside the local ones, each by its own interface."""
