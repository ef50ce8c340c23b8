"""Which turns of a Claude Code session a rewind left behind, by the messages they stand under."""


class Branches:
    """The messages of a person as a tree, and which of them every turn answers.

    Turns are known by their places in the session; -1 stands for none. Only messages of a
    person make branches: parallel tool calls fork the chain of records and mean nothing.
    """

    def __init__(self) -> None:
        self.last_human = -1
        self.tip = -1
        """Message of a person on whose branch the last record stands."""
        self._before: dict[int, int] = {}
        """Message of a person -> the one before it on its branch."""
        self._under: dict[int, int] = {}
        """Turn -> message of a person that it answers, or is."""
        self._firm: dict[int, int] = {}
        """Message that was typed ahead -> the nearest one before it that was not."""

    def ask(self, place: int, above: int) -> None:
        """A message of a person stands at a place, below another one."""
        self._before[place] = self.reached(above)
        self._under[place] = self.last_human = self.tip = place

    def type_ahead(self, place: int) -> None:
        """The message there was typed while the assistant worked: no chain of parents has it."""
        before = self._before[place]
        self._firm[place] = self._firm.get(before, before)

    def is_ahead(self, place: int) -> bool:
        """Whether the message there was typed while the assistant worked."""
        return place in self._firm

    def go_on(self, place: int) -> None:
        """All that was before stands at one place, and is on the path."""
        self._before[place] = -1
        self._under[place] = self.last_human = self.tip = place

    def answer(self, place: int) -> None:
        """A turn that no person wrote stands at a place, on the branch of the last record."""
        self._under[place] = self.tip

    def reached(self, above: int) -> int:
        """The message that a new record follows: an earlier one only after a rewind."""
        last = self._firm.get(self.last_human, self.last_human)
        goes_on = above in {-1, last} or self._firm.get(above) == last
        return self.last_human if goes_on else above

    def take_out(self, places: list[int]) -> None:
        """The messages there were taken back: what stood under them moves up."""
        moved: dict[int, int] = {}
        for place in sorted(places):  # what stands above comes first
            before = self._before.pop(place)
            moved[place] = moved.get(before, before)
        self._before = {one: moved.get(above, above) for one, above in self._before.items()}
        self._under = {turn: moved.get(human, human) for turn, human in self._under.items()}
        self.tip = moved.get(self.tip, self.tip)

    def left_behind(self) -> set[int]:
        """Places of turns off the path, which is the branch of the last record."""
        on_path = {-1}
        place = self.tip
        while place not in on_path:
            on_path.add(place)
            place = self._before.get(place, -1)
        return {turn for turn, human in self._under.items() if human not in on_path}
