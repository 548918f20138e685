"""What a person asks while the offline model writes already."""

from pathlib import Path

import researchdesk as rd
from researchdesk.graph.driver import StreamEvent


def test_a_question_that_is_asked_while_the_report_is_written_is_dropped_and_said_to_be(
    tmp_path: Path,
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "guide.md").write_text("# Widget guide\n\nThe widget must be at least 12 millimetres wide.\n")
    with rd.open_desk(tmp_path / "home") as desk:

        def ask(event: StreamEvent) -> None:
            run = desk.existing("s").run
            late = desk.existing("s").frontier.questions
            if (
                run
                and run.stage == "report_writing"
                and not any(q.text == "Why so wide?" for q in late.values())
            ):
                desk.existing("s").steering.add("Why so wide?")

        ended = rd.run_research(
            desk, "How wide must a widget be?", corpus=[docs], scope="quick", session_id="s", on_event=ask
        )
        assert (ended.status, ended.stop_reason) == ("completed", None)
        session = desk.existing("s")
        late = next(question for question in session.frontier if question.text == "Why so wide?")
        assert late.status == "pruned"
