"""The eight tools of the durable research workspace."""
