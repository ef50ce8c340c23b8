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
        self._typed_ahead: set[int] = set()

    def ask(self, place: int, above: int) -> None:
        """A message of a person stands at a place, below another one."""
        self._before[place] = self.reached(above)
        self._under[place] = self.last_human = self.tip = place

    def type_ahead(self, place: int) -> None:
        """The message there was typed while the assistant worked: no chain of parents has it."""
        self._typed_ahead.add(place)

    def answer(self, place: int) -> None:
        """A turn that no person wrote stands at a place, on the branch of the last record."""
        self._under[place] = self.tip

    def reached(self, above: int) -> int:
        """The message that a new record follows: an earlier one only after a rewind."""
        last = self.last_human
        while last not in {above, -1} and last in self._typed_ahead:
            last = self._before.get(last, -1)
        return above if above not in {-1, last} else self.last_human

    def take_out(self, place: int) -> None:
        """The message there was taken back: what stood under it moves up."""
        before = self._before.pop(place)
        self._before = {
            later: before if earlier == place else earlier
            for later, earlier in self._before.items()
        }
        self._under = {
            turn: before if human == place else human for turn, human in self._under.items()
        }
        if self.tip == place:
            self.tip = before

    def left_behind(self) -> set[int]:
        """Places of turns off the path, which is the branch of the last record."""
        on_path = {-1}
        place = self.tip
        while place not in on_path:
            on_path.add(place)
            place = self._before.get(place, -1)
        return {turn for turn, human in self._under.items() if human not in on_path}
