"""Serves the built book on this machine: ``python -m tools.serve --port 8000``."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

from tools.book import HTML

ADDRESS = "127.0.0.1"


def main() -> None:
    """Serve until interrupted; port 0 takes a free one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8000)
    port = parser.parse_args().port
    if not (HTML / "index.html").exists():
        sys.exit(f"There is no book at {HTML}; make book builds it.")
    handler = partial(SimpleHTTPRequestHandler, directory=str(HTML))
    try:
        server = ThreadingHTTPServer((ADDRESS, port), handler)
    except OSError as error:
        sys.exit(f"Port {port} cannot be used ({error.strerror}); try make serve PORT=8001.")
    print(f"The book is at http://{ADDRESS}:{server.server_port}/ (Ctrl-C ends this).", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()


if __name__ == "__main__":
    main()
