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

    @property
    def silent(self) -> Disposition:
        """What its records count as if it has no text."""
        if self.calls:
            return "tool"
        return "thinking" if self.thought else "empty"
