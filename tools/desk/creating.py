"""Creating a file of the desk, which runs at once: it overwrites nothing, and a person can delete it again."""

from researchdesk.state.desk.actors import agent_of
from researchdesk.state.desk.changes import check_free
from researchdesk.state.desk.edits import clean_content
from researchdesk.state.desk.events import FileCreated
from researchdesk.state.desk.files import Cause, FileKind, file_id
from researchdesk.state.desk.naming import shown, version
from researchdesk.state.desk.paths import clean_path
from researchdesk.state.desk.sheets import dimensions
from researchdesk.state.ids import CallId, content_hash
from researchdesk.state.workspace import Workspace
from researchdesk.tools.desk.arguments import CreateFile, CreateMarkdown, CreateSpreadsheet
from researchdesk.tools.spec import Decision, Gathered


def decide_create(workspace: Workspace, arguments: CreateFile, gathered: Gathered, call: CallId) -> Decision:
    """Create a file of the kind that is asked for."""
    return _create(arguments.path, arguments.kind, arguments.content, gathered, call)


def decide_create_markdown(
    workspace: Workspace, arguments: CreateMarkdown, gathered: Gathered, call: CallId
) -> Decision:
    """Create a document."""
    return _create(arguments.path, "markdown", arguments.content, gathered, call)


def decide_create_spreadsheet(
    workspace: Workspace, arguments: CreateSpreadsheet, gathered: Gathered, call: CallId
) -> Decision:
    """Create a spreadsheet."""
    return _create(arguments.path, "spreadsheet", arguments.content, gathered, call)


def _create(path: str, kind: FileKind, content: str, gathered: Gathered, call: CallId) -> Decision:
    assert gathered.desk is not None
    path = clean_path(path)
    check_free(gathered.desk.state, path)
    text = clean_content(content, kind=kind)
    body = text.encode()
    created = FileCreated(
        file_id=file_id(call),
        path=path,
        kind=kind,
        content_hash=content_hash(body),
        chars=len(text),
        actor=agent_of(call.session),
        at=gathered.desk.now,
        cause=Cause.of(call),
    )
    size = f", {dimensions(text)}" if kind == "spreadsheet" else f", size {len(text):,}"
    return Decision(
        text=f"Created {kind} {shown(path)} ({created.file_id}{size}). "
        f"Its version is {version(created.content_hash)}.",
        desk_events=(created,),
        data={
            "file_id": created.file_id,
            "path": path,
            "kind": kind,
            "hash": created.content_hash,
            "version": created.content_hash,
            "rev": 1,
        },
        bodies={created.content_hash: body},
        entity_type="desk.file",
        entity_id=created.file_id,
    )
