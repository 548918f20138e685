"""Pages of the web: fetched from checked addresses only, within limits, politely."""
