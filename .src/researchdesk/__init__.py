"""researchdesk: durable, auditable deep research as LangGraph workflows."""
