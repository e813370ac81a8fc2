"""The files that every page may load: charts, mathematics and style, all from the site itself.

Vega comes out of vl-convert, which holds it, and MathJax out of the package that carries it; so
nothing is fetched from elsewhere and nothing foreign is kept beside the book's sources.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from importlib import metadata
from pathlib import Path

import vl_convert
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from specdec_lib import theme

OWN = Path(__file__).parent / "static"
#: Below the site's _static: the folder of charts, and that of MathJax as in _config.yml.
CHARTS, MATHJAX = "charts", "mathjax"
#: What the bundle hands to charts.js of all that it holds.
VEGA = "window.vegaEmbed = vegaEmbed;"
#: Of MathJax: TeX in, HTML out, and its fonts.  Commands beyond AMS's would need more.
MATHJAX_PARTS = ("tex-chtml.js", "output/chtml/fonts")


def write_if_other(path: Path, text: str) -> None:
    """Write a file unless it holds just that: its time then still tells when it changed."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def vega_bundle(cache: Path) -> Path:
    """The one script that draws charts; made once for a version of vl-convert, in about 2 s."""
    recipe = f"{metadata.version('vl-convert-python')} {VEGA} in a scope"
    bundle = cache / f"vega-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}.js"
    if not bundle.exists():
        # in a scope of its own: its short names are taken by other scripts of the page
        write_if_other(bundle, f"(() => {{\n{vl_convert.javascript_bundle(VEGA)}\n}})();\n")
    return bundle


def mathjax_folder() -> Path:
    """Where the package that carries MathJax has put it."""
    for file in metadata.files("sphinx-mathjax-offline") or ():
        if file.name == MATHJAX_PARTS[0]:
            return Path(str(file.locate())).parent
    raise ExtensionError("sphinx-mathjax-offline holds no tex-chtml.js; make lock, make book")


def copy_new(source: Path, target: Path) -> None:
    """Copy a file, or a folder with all in it, where the copy is missing or older."""
    if source.is_dir():
        for each in source.iterdir():
            copy_new(each, target / each.name)
    elif not target.exists() or target.stat().st_mtime != source.stat().st_mtime:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def chart_settings() -> str:
    """The theme of both modes as a script: a page opened from the disk may not fetch JSON."""
    modes = {"light": theme.vega_config(dark=False), "dark": theme.vega_config(dark=True)}
    return f"window.bookChartConfig = {json.dumps(modes, sort_keys=True)};\n"


def write_assets(app: Sphinx) -> None:
    """Bring the site's _static up to date, before pages ask for checksums of what is in it."""
    if app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    charts = static / CHARTS
    copy_new(vega_bundle(Path(app.outdir).parent / "cache"), charts / "vega.js")
    write_if_other(charts / "config.js", chart_settings())
    copy_new(OWN, charts)
    folder = mathjax_folder()
    for part in MATHJAX_PARTS:
        copy_new(folder / part, static / MATHJAX / part)


def setup(app: Sphinx) -> None:
    """Write the assets as soon as the place of the site is known."""
    app.connect("builder-inited", write_assets)
