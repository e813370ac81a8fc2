"""Numbers that stay in one piece: no line of a page ends inside one, or between it and its unit."""

from __future__ import annotations

import re

GROUP = "\N{NARROW NO-BREAK SPACE}"
UNIT = "\N{NO-BREAK SPACE}"

_ANY_SPACE = f"[ \n{GROUP}{UNIT}\N{THIN SPACE}]"
#: What is no prose: blocks of code (a directive in braces holds prose), code and mathematics in
#: the line, comments.
_OTHER = re.compile(
    r"^(?P<fence>`{3,}|~{3,})(?!\{).*?^(?P=fence)|^\$\$.*?\$\$|\$\$.*?\$\$"
    r"|(?<!`)(?P<tick>`{1,2})(?!`).+?(?<!`)(?P=tick)(?!`)|(?<!\\)\$[^$]+\$|<!--.*?-->",
    re.M | re.S,
)
_GROUPED = re.compile(rf"(?<![\d.,])\d{{1,3}}(?:{_ANY_SPACE}\d{{3}})+(?!\d)")
_MEASURED = re.compile(
    rf"(?<=\d)(\*\*)?{_ANY_SPACE}(?="
    r"%|×|(?:thousand|million|billion|trillion)\b"
    r"|[kMGTPmµn]?(?:FLOP/s|FLOP/B|TOP/s|B/s|FLOP|B|s|W)(?![\w/-]))"
)


def unbroken(markdown: str) -> str:
    """A text with a no-break space in every number of several groups and before every unit.

    >>> mended = unbroken("**10 945** tokens in 17.4 ms, where `10 945` and $4 ms$ stay")
    >>> mended.replace(GROUP, "_").replace(UNIT, "~")
    '**10_945** tokens in 17.4~ms, where `10 945` and $4 ms$ stay'
    """
    kept, parts, end = [], [], 0
    for found in _OTHER.finditer(markdown):
        parts.append(markdown[end : found.start()])
        kept.append(found[0])
        end = found.end()
    parts.append(markdown[end:])
    mended = [_joined(part) for part in parts]
    return mended[0] + "".join(a + b for a, b in zip(kept, mended[1:], strict=True))


def _joined(prose: str) -> str:
    grouped = _GROUPED.sub(lambda found: re.sub(_ANY_SPACE, GROUP, found[0]), prose)
    return _MEASURED.sub(lambda found: (found[1] or "") + UNIT, grouped)
