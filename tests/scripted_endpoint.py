"""A chat endpoint on this machine that answers what a test tells it to, and keeps what it got."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@dataclass
class Answer:
    status: int = 200
    body: bytes = b""
    headers: dict = field(default_factory=dict)
    delay: float = 0.0
    drip: float = 0.0
    """Seconds between the bytes of the body."""


def spoken(text, *, usage=None, **message) -> Answer:
    """A chat completion that says a text."""
    said = {"role": "assistant", "content": text, **message}
    answer = {"id": "c1", "object": "chat.completion", "choices": [{"index": 0, "message": said}]}
    if usage is not None:
        answer["usage"] = usage
    return Answer(body=json.dumps(answer).encode(), headers={"Content-Type": "application/json"})


@dataclass
class Scripted:
    """The endpoint: its address, what it will say, and what it was asked."""

    url: str = ""
    script: list = field(default_factory=list)
    """Answers in order, or functions of the parsed request; the last one comes again."""
    bodies: list = field(default_factory=list)
    headers: list = field(default_factory=list)
    paths: list = field(default_factory=list)
    during: Callable = lambda: None
    """Called while a request waits for its answer."""

    def next(self, body) -> Answer:
        self.during()
        step = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        found: Answer = step(json.loads(body)) if callable(step) else step
        return found

    @property
    def asked(self) -> list:
        return [json.loads(body) for body in self.bodies]


@contextmanager
def endpoint(*script) -> Iterator[Scripted]:
    scripted = Scripted(script=list(script))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            scripted.bodies.append(body)
            scripted.headers.append({name.lower(): value for name, value in self.headers.items()})
            scripted.paths.append(self.path)
            answer = scripted.next(body)
            time.sleep(answer.delay)
            try:
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                if answer.drip:
                    for at in range(len(answer.body)):
                        self.wfile.write(answer.body[at : at + 1])
                        self.wfile.flush()
                        time.sleep(answer.drip)
                else:
                    self.wfile.write(answer.body)
            except (BrokenPipeError, ConnectionResetError):
                pass  # who asked went away

        do_GET = do_POST  # noqa: N815 - the server asks for this name

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    scripted.url = f"http://127.0.0.1:{server.server_port}/v1"
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield scripted
    finally:
        server.shutdown()
        server.server_close()
