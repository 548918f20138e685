"""The desk and its research as middleware for agents of LangChain and deepagents (extra ``langchain``)."""

try:
    import langchain.agents  # noqa: F401
except ImportError as problem:
    raise ImportError(
        f"middleware needs LangChain ({problem}): pip install 'researchdesk[langchain]'"
    ) from None
