"""One message of Claude Code's assistant, which is spread over several records."""

from ingest.model import Disposition, RawTurn


class Message:
    """One message of the assistant while its lines are read."""

    def __init__(self, ident: object, request: object) -> None:
        self.ident = ident if isinstance(ident, str) else None
        self.request = request
        self.keys: list[str] = []
        self.texts: list[str] = []
        self.calls: list[tuple[str, int]] = []
        self._called: set[str] = set()
        self.touched: list[str] = []
        self.thought = False
        self.stopped = False
        self.records = 0
        self.turn: RawTurn | None = None
        self.result_since = False

    def goes_on(self, ident: object, request: object) -> bool:
        """Whether a line of that id is part of it: gateways give all replies one id."""
        if self.ident is None or ident != self.ident:
            return False
        return not self.result_since or (request is not None and request == self.request)

    def say(self, text: str) -> None:
        """Take in a text block; a gateway may write every state that a block went through."""
        if text in self.texts:
            return
        if self.texts and text.startswith(self.texts[-1]):
            self.texts[-1] = text
        else:
            self.texts.append(text)

    def is_new_call(self, ident: object) -> bool:
        """Whether a call was not in an earlier line of the message."""
        if not isinstance(ident, str):
            return True
        known = ident in self._called
        self._called.add(ident)
        return not known

    @property
    def silent(self) -> Disposition:
        """What its records count as if it has no text."""
        if self.calls:
            return "tool"
        return "thinking" if self.thought else "empty"
