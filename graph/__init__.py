"""The LangGraph shell around the desk: nodes, prompts, models, command line."""
