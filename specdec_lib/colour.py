"""Colours as the eye sees them: luminance, contrast, and a colour made lighter or darker.

Colours are written ``#rrggbb``; luminance and contrast are those of WCAG 2.
"""

from __future__ import annotations

__all__ = ["contrast", "ink_on", "luminance", "with_luminance"]


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


def _encoded(linear: float) -> float:
    return 12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055


def _channels(colour: str) -> tuple[float, float, float]:
    """The linear red, green and blue of ``#rrggbb``, each in [0, 1]."""
    try:
        if len(colour) != 7 or colour[0] != "#":
            raise ValueError
        red, green, blue = (_linear(int(colour[i : i + 2], 16) / 255) for i in (1, 3, 5))
    except ValueError:
        raise ValueError(f"{colour!r} is not a colour of the form #rrggbb") from None
    return red, green, blue


def luminance(colour: str) -> float:
    """Relative luminance of ``#rrggbb`` as WCAG 2 defines it: 0 for black, 1 for white."""
    red, green, blue = _channels(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours as WCAG 2 defines it, from 1 to 21."""
    dim, bright = sorted((luminance(one), luminance(other)))
    return (bright + 0.05) / (dim + 0.05)


def ink_on(colour: str) -> str:
    """Black or white, whichever is easier to read on ``colour``."""
    return max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, colour))


def with_luminance(colour: str, target: float) -> str:
    """``colour`` mixed with black or with white until its luminance is ``target``."""
    has = luminance(colour)
    if target <= has:
        mixed = [c * target / has for c in _channels(colour)]
    else:
        white = (target - has) / (1 - has)
        mixed = [c + white * (1 - c) for c in _channels(colour)]
    return "#" + "".join(f"{round(255 * _encoded(c)):02x}" for c in mixed)
