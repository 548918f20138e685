"""Dispatch: effects reach the dock that shows panels, the bus that carries content, and the person who is told.

Structural effects go to the dock by direct calls, content goes over the bus, and the two do not know each other.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from researchdesk.state.desk.effects import (
    CHANNELS,
    Channel,
    ClosePanel,
    DeskEffect,
    FocusPanel,
    Notify,
    OpenPanel,
    Payload,
    Structural,
    UpdateContent,
    ordered,
)
from researchdesk.state.desk.layout import PanelLayout, apply
from researchdesk.state.errors import UsageError

Subscriber = Callable[[Payload], None]


class Dock(Protocol):
    """What shows panels; it remembers which effects it has had."""

    def has_seen(self, effect_id: str) -> bool:
        """Whether an effect of this id has come before."""

    def open(self, effect: OpenPanel) -> None:
        """Open a panel and focus it; only focus it where it is open."""

    def focus(self, effect: FocusPanel) -> None:
        """Focus a panel; nothing where it is not open."""

    def close(self, effect: ClosePanel) -> None:
        """Close a panel; nothing where it is not open."""

    def note(self, effect: UpdateContent | Notify) -> None:
        """Remember an effect that is not structural, and mark the panels whose file it changed."""


class LayoutDock:
    """A dock that is a `PanelLayout` and nothing more; for one thread at a time."""

    def __init__(self, layout: PanelLayout | None = None) -> None:
        self.layout = layout or PanelLayout()

    def has_seen(self, effect_id: str) -> bool:
        """Whether the layout remembers an effect of this id."""
        return effect_id in self.layout.seen

    def open(self, effect: OpenPanel) -> None:
        """Open or focus a panel of the layout."""
        self._apply(effect)

    def focus(self, effect: FocusPanel) -> None:
        """Focus a panel of the layout."""
        self._apply(effect)

    def close(self, effect: ClosePanel) -> None:
        """Close a panel of the layout."""
        self._apply(effect)

    def note(self, effect: UpdateContent | Notify) -> None:
        """Mark the panels of the layout whose file changed."""
        self._apply(effect)

    def _apply(self, effect: DeskEffect) -> None:
        self.layout = apply(self.layout, effect)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriberFailed:
    """A subscriber raised; the others got the payload all the same."""

    channel: Channel
    subscriber: str
    error: Exception


@dataclass(frozen=True, eq=False, slots=True)
class _Subscription:
    """One subscription; equal to itself alone, so that a function may subscribe twice."""

    subscriber: Subscriber


class Bus:
    """Carries content to those in this process who listen on its channel."""

    def __init__(self) -> None:
        self._subscriptions: dict[Channel, tuple[_Subscription, ...]] = dict.fromkeys(CHANNELS, ())

    def subscribe(self, channel: Channel, subscriber: Subscriber) -> Callable[[], None]:
        """Call ``subscriber`` with each payload from now on; what comes back ends that.

        Raises:
            UsageError: there is no such channel.
        """
        if channel not in self._subscriptions:
            raise UsageError(f"no channel '{channel}'; there are {', '.join(CHANNELS)}")
        subscription = _Subscription(subscriber)
        self._subscriptions[channel] += (subscription,)
        return lambda: self._end(channel, subscription)

    def publish(self, channel: Channel, payload: Payload) -> tuple[SubscriberFailed, ...]:
        """Give the payload to every subscriber of the channel, in the order in which they came; who of them failed."""
        failed = []
        for subscription in self._subscriptions[channel]:
            try:
                subscription.subscriber(payload)
            except Exception as error:
                name = repr(subscription.subscriber)
                failed.append(SubscriberFailed(channel=channel, subscriber=name, error=error))
        return tuple(failed)

    def _end(self, channel: Channel, ended: _Subscription) -> None:
        left = tuple(one for one in self._subscriptions[channel] if one != ended)
        self._subscriptions[channel] = left


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatched:
    """What came of a batch: what a person is to be told, and the subscribers that failed."""

    notices: tuple[Notify, ...] = ()
    failures: tuple[SubscriberFailed, ...] = ()


def dispatch(effects: Iterable[DeskEffect], dock: Dock, bus: Bus) -> Dispatched:
    """Hand on the effects of one batch: the structural ones first, then content and notices in their order.

    An effect that the dock has seen is dropped. A subscriber that fails stops nobody; it is reported.
    """
    notices: list[Notify] = []
    failures: list[SubscriberFailed] = []
    for effect in ordered((tuple(effects),)):
        if dock.has_seen(effect.id):
            continue
        match effect:
            case UpdateContent():
                dock.note(effect)
                failures += bus.publish(effect.channel, effect.payload)
            case Notify():
                dock.note(effect)
                notices.append(effect)
            case _:
                _restructure(dock, effect)
    return Dispatched(notices=tuple(notices), failures=tuple(failures))


def _restructure(dock: Dock, effect: Structural) -> None:
    match effect:
        case OpenPanel():
            dock.open(effect)
        case FocusPanel():
            dock.focus(effect)
        case ClosePanel():
            dock.close(effect)
