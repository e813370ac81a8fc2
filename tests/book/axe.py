"""What axe finds on an open page, with contrast measured once for each look of a listing.

Contrast is nearly all of axe's time.  It tests each token of each listing, thousands a page, where
those of one colour in one listing give one answer; and it walks over the glyphs of each equation,
which hold no text to measure.  So the other rules look at the whole page, and while contrast is
measured all tokens but one of each look are invisible, in their places.
"""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

#: What axe looks for: everything in WCAG 2.1 A and AA ...
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
#: ... of which this depends on the mode.
CONTRAST = "color-contrast"

#: Findings of axe that are the theme's: (rule, part of the element's selector, why they stay).
THEMES_FINDINGS: list[tuple[str, str, str]] = [
    ("aria-required-children", ".citation-list", "docutils gives citations the role of a list"),
]

#: Marks and hides what contrast need not look at, and says how many elements these are.  A token's
#: look is everything that its contrast depends on; the longest in sight stands for its like,
#: because axe does not judge a single character, nor what is scrolled away.
STAND_INS = """() => {
  const looks = ['color', 'backgroundColor', 'backgroundImage', 'opacity', 'filter', 'mixBlendMode',
    'fontSize', 'fontWeight', 'textShadow', 'webkitTextStrokeWidth', 'webkitTextFillColor',
    'position', 'display', 'visibility'];
  const alike = [...document.querySelectorAll('mjx-container:not(:has(mjx-utext))')];
  for (const listing of document.querySelectorAll('div.highlight pre')) {
    const room = listing.getBoundingClientRect();
    const seen = new Map();
    const tokens = [...listing.querySelectorAll(':scope > span')]
      .filter(token => !token.children.length && token.textContent.trim().length > 1)
      .filter(token => [...token.getClientRects()].every(box => box.width
        && box.left >= room.left && box.right <= room.right
        && box.top >= room.top && box.bottom <= room.bottom))
      .sort((one, other) => other.textContent.length - one.textContent.length);
    for (const token of tokens) {
      const style = getComputedStyle(token);
      const look = looks.map(name => style[name]).join();
      if (seen.has(look)) alike.push(token);
      else seen.set(look, token);
    }
  }
  alike.forEach(each => { each.dataset.alike = ''; });
  const hide = document.createElement('style');
  hide.id = 'alike';
  hide.textContent = '[data-alike], [data-alike] * { visibility: hidden !important; }';
  document.head.append(hide);
  return alike.length;
}"""

#: Makes everything visible again.
UNDO = """() => {
  document.querySelector('style#alike').remove();
  document.querySelectorAll('[data-alike]').forEach(each => { delete each.dataset.alike; });
}"""

_RUN = "options => axe.run(options)"


def structure(page: Page) -> list[str]:
    """Serious findings of every rule but contrast, the theme's own left out."""
    return _findings(page, {"runOnly": TAGS, "rules": {CONTRAST: {"enabled": False}}})


def contrast(page: Page) -> list[str]:
    """Serious findings of contrast in the mode in which the page stands."""
    page.evaluate(STAND_INS)
    try:
        return _findings(page, {"runOnly": [CONTRAST]})
    finally:
        page.evaluate(UNDO)


def _findings(page: Page, options: dict[str, Any]) -> list[str]:
    """What axe says with these options: rule, impact, element, meaning."""
    if not page.evaluate("typeof window.axe === 'object'"):
        page.evaluate(Axe().axe_script)
    found = page.evaluate(_RUN, {"resultTypes": ["violations"], "preload": False, **options})
    return [
        f"{violation['id']} ({violation['impact']}): {selector}: {violation['help']}"
        for violation in found["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
        for selector in node["target"]
        if not is_the_themes(violation["id"], str(selector))
    ]


def is_the_themes(rule: str, selector: str) -> bool:
    """Whether a finding is in the list of those that stay."""
    return any(rule == known and part in selector for known, part, _ in THEMES_FINDINGS)
