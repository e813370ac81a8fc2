// Draws the charts of a page, and draws them again when the reader changes between light and dark.
//
// Each figure holds a Vega-Lite specification as JSON.  vega.js brings vegaEmbed, config.js the
// theme of both modes; all three come from the site itself, so a page also works from the disk.
// A figure that is drawn says in which mode: data-ready="light" or "dark"; or "failed".
"use strict";

(() => {
  const page = document.documentElement;
  const figures = [...document.querySelectorAll("figure.vega-chart")];
  const drawn = new WeakMap(); // figure -> what vegaEmbed returned
  const turns = new WeakMap(); // figure -> promise that its last drawing has ended

  const mode = () => (page.dataset.theme === "dark" ? "dark" : "light");
  const target = (figure) => figure.querySelector(".vega-target");
  const pause = () => new Promise((done) => setTimeout(done));

  // --- sliders -----------------------------------------------------------------------------------

  // Where the reader has left the sliders and menus of a figure, by the name of their parameter.
  function positions(figure) {
    const found = new Map();
    for (const input of figure.querySelectorAll(".vega-bindings [name]")) {
      const number = input.type === "range" || input.type === "number";
      if (input.type === "checkbox") found.set(input.name, input.checked);
      else if (input.type !== "radio" || input.checked)
        found.set(input.name, number ? Number(input.value) : input.value);
    }
    return found;
  }

  // Let the parameters start at those positions, at whatever depth of the specification they stand.
  function startAt(node, kept) {
    if (Array.isArray(node)) node.forEach((item) => startAt(item, kept));
    else if (node && typeof node === "object") {
      for (const param of Array.isArray(node.params) ? node.params : [])
        if (param.bind && kept.has(param.name)) param.value = kept.get(param.name);
      Object.values(node).forEach((item) => startAt(item, kept));
    }
  }

  // The specification of a figure, its sliders where the reader has left them.
  function current(figure) {
    const spec = JSON.parse(figure.querySelector("script").textContent);
    startAt(spec, positions(figure));
    return spec;
  }

  // --- drawing -----------------------------------------------------------------------------------

  async function draw(figure) {
    const asked = mode();
    if (figure.dataset.ready === asked || target(figure).clientWidth === 0) return;
    try {
      const spec = current(figure);
      drawn.get(figure)?.finalize();
      const result = await vegaEmbed(target(figure), spec, {
        mode: "vega-lite",
        renderer: "svg",
        actions: false,
        config: bookChartConfig[asked],
        tooltip: { theme: asked },
      });
      drawn.set(figure, result);
      offerToSave(figure);
      figure.dataset.ready = asked;
    } catch (error) {
      console.error(error);
      figure.dataset.ready = "failed";
      const said = document.createElement("p");
      said.textContent = `${figure.getAttribute("aria-label")} (Not drawn: ${error.message})`;
      target(figure).replaceChildren(said);
    }
  }

  // --- saving ------------------------------------------------------------------------------------

  // A picture for paper and slides, whatever the mode of the page: dark on white, as wide as here.
  async function save(figure, kind) {
    const spec = current(figure);
    spec.width = target(figure).clientWidth;
    spec.autosize = { type: "fit-x", contains: "padding" };
    const config = { ...bookChartConfig.light, background: "white" };
    const aside = document.createElement("div");
    const result = await vegaEmbed(aside, spec, { mode: "vega-lite", actions: false, config });
    const link = document.createElement("a");
    link.href = await result.view.toImageURL(kind, 2);
    const name = location.pathname.split("/").pop().replace(/\.html$/, "") || "chart";
    link.download = `${name}-${figures.indexOf(figure) + 1}.${kind}`;
    link.click();
    result.finalize();
  }

  function offerToSave(figure) {
    if (figure.querySelector(".vega-save")) return;
    const menu = document.createElement("details");
    menu.className = "vega-save";
    menu.innerHTML = "<summary>Save this chart</summary>";
    for (const kind of ["svg", "png"]) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = kind.toUpperCase();
      button.addEventListener("click", () => save(figure, kind).catch(console.error));
      menu.append(button);
    }
    figure.append(menu);
  }

  // One drawing of a figure at a time: whoever flips the mode twice gets the last one.
  function inTurn(figure) {
    const turn = (turns.get(figure) ?? Promise.resolve()).then(() => draw(figure));
    turns.set(figure, turn);
    return turn;
  }

  // What the reader sees first, then the rest, with the page free to react in between.
  async function drawAll() {
    const near = (figure) => {
      const { top, bottom } = figure.getBoundingClientRect();
      return bottom > 0 && top < window.innerHeight;
    };
    const first = figures.filter(near);
    for (const figure of [...first, ...figures.filter((other) => !first.includes(other))]) {
      await inTurn(figure);
      await pause();
    }
  }

  // --- what the page does ------------------------------------------------------------------------

  // Vega fits a chart to its container when the window changes; the container changes more often:
  // a side bar closes, a solution opens.
  let announced = false;
  const widths = new WeakMap();
  const watch = new ResizeObserver((entries) => {
    for (const { target: frame, contentRect } of entries) {
      const before = widths.get(frame);
      widths.set(frame, contentRect.width);
      if (before === contentRect.width || before === undefined) continue;
      const figure = frame.closest("figure.vega-chart");
      if (!drawn.has(figure)) inTurn(figure);
      else if (!announced) {
        announced = true;
        requestAnimationFrame(() => {
          announced = false;
          window.dispatchEvent(new Event("resize"));
        });
      }
    }
  });

  figures.forEach((figure) => watch.observe(target(figure)));
  new MutationObserver(drawAll).observe(page, { attributeFilter: ["data-theme"] });
  drawAll();
})();
