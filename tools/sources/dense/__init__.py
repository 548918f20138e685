"""Dense retrieval of local documents: passages by the nearness of their meaning, as a small model sees it."""
