"""A server of files, for tests of what is remote."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class RangeHandler(http.server.SimpleHTTPRequestHandler):
    """A server of byte ranges, which the standard library's is not."""

    honest = True

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        path = Path(self.translate_path(self.path))
        if wanted is None or not path.is_file() or not self.honest:
            super().do_GET()
            return
        start, _, stop = wanted.removeprefix("bytes=").partition("-")
        content = path.read_bytes()
        part = content[int(start) : int(stop) + 1]
        self.send_response(206)
        self.send_header("Content-Length", str(len(part)))
        last = int(start) + len(part) - 1
        self.send_header("Content-Range", f"bytes {start}-{last}/{len(content)}")
        self.end_headers()
        self.wfile.write(part)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


def serve(folder: Path, handler: type[RangeHandler]) -> Iterator[str]:
    make = functools.partial(handler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), make)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()
