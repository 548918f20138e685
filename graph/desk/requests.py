"""The request of one step: the desk as it stands, what was said lately, and at the end of a long turn no tools."""

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from researchdesk.graph.desk.driver import STEPS_A_TURN, ChatDriver
from researchdesk.graph.desk.history import History, as_plain, request_history
from researchdesk.graph.desk.viewing import chat_view
from researchdesk.graph.prompts import Prompt
from researchdesk.state.desk.prompt import desk_prompt
from researchdesk.state.tokens import estimate_tokens

STEP_LIMIT = f"Tool limit of {STEPS_A_TURN} steps reached. Answer with what you have."


def next_request(driver: ChatDriver) -> Prompt:
    """The next request, built anew from the ledger."""
    history = request_history(driver.session, driver.chat, page_tokens=driver.read_page_tokens)
    view = chat_view(driver.session, driver.files, driver.chat.news)
    messages: list[BaseMessage] = [SystemMessage(f"{desk_prompt(view)}{_notice(history)}")]
    if driver.may_call:
        messages += history.messages
    else:
        messages += [*as_plain(history.messages), HumanMessage(STEP_LIMIT)]
    spoken = sum(estimate_tokens(str(message.content)) for message in messages)
    return Prompt(messages=messages, tokens=spoken + driver.bound_model().schema_tokens)


def _notice(history: History) -> str:
    if not history.left_out:
        return ""
    return f"\n\n{history.left_out:,} earlier messages of this conversation are not shown."
