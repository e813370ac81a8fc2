// Lets the Tab key stop at an equation that does not fit and scrolls in its own box, so that the
// arrow keys can move it; all others are read and not operated.
"use strict";

(() => {
  const mark = () => {
    for (const each of document.querySelectorAll('mjx-container[display="true"]')) {
      if (each.scrollWidth > each.clientWidth) each.tabIndex = 0;
      else each.removeAttribute("tabindex");
    }
  };
  // the article grows and shrinks with the window, a side bar, and what is unfolded in it
  window.MathJax?.startup?.promise?.then(() =>
    new ResizeObserver(mark).observe(document.querySelector("article") ?? document.body),
  );
})();
