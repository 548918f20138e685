"""The one error tree of the package, and what each branch promises to its reader.

```
ResearchdeskError
├── Refusal          what a model may be told; short, actionable, with a code
├── Conflict         the same call identity arrived with another input
├── LedgerCorrupt    a stored stream is not what was written; names stream and sequence
├── IntegrityError   stored bytes do not match their recorded hash, or a command cannot be proven safe
├── NotFound         the named session, artifact or file does not exist
├── Unavailable      something needed now cannot be had now; trying again later may work
│   ├── StoreAway    the server under the ledger is away, full or too busy; the run itself is sound
│   ├── SessionBusy  another process drives this session
│   └── LeaseLost    this driver was overtaken and may not write any more
└── UsageError       a person asked for something in a form that cannot be served
```

A message says what was asked, what is there, and what to do next.
"""


class ResearchdeskError(Exception):
    """Base of every error that the package raises on purpose."""


class Refusal(ResearchdeskError):
    """A request that was understood and declined; its text is fit for a model.

    Args:
        code: closed snake_case word, e.g. ``invalid_arguments`` or ``unknown_artifact``.
        text: one or two sentences: what was asked, what is there, what to do.
    """

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


class Conflict(ResearchdeskError):
    """A call identity was used again with a different tool or different arguments."""


class LedgerCorrupt(ResearchdeskError):
    """A stored stream fails its checks; nothing partial is returned."""


class IntegrityError(ResearchdeskError):
    """Stored bytes do not have the hash that the ledger recorded."""


class NotFound(ResearchdeskError):
    """What was named does not exist here."""


class Unavailable(ResearchdeskError):
    """Something needed now is not to be had now."""


class StoreAway(Unavailable):
    """The server that holds the desk cannot be asked now; what it was asked for may be asked again."""


class SessionBusy(Unavailable):
    """Another driver holds the session's lease."""


class LeaseLost(Unavailable):
    """This driver's lease was taken over; its writes are refused."""


class UsageError(ResearchdeskError):
    """A person's request has a form or a value that cannot be served."""
