"""What can be wrong with counts: unreadable, impossible, or not what was asked for."""

from __future__ import annotations


class ReadError(ValueError):
    """A text is not what it should be; the message names the line or the field."""


class ImpossibleCounts(ReadError):
    """Numbers that no engine can have counted; the message gives the reason."""


class NotCounted(ValueError):
    """The counts do not hold what was asked for; the message says what would."""
