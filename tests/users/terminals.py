"""A terminal whose person has decided beforehand what to type."""

from collections.abc import Sequence


class Typed:
    """Gives these lines and then the end of input; ``shown`` is what the person has seen."""

    def __init__(self, *lines: str) -> None:
        self.shown: list[str] = []
        self.prompts: list[str] = []
        self._lines = list(lines)

    def show(self, text: str) -> None:
        self.shown.append(text)

    async def ask(self, prompt: str, words: Sequence[str] = ()) -> str | None:
        self.prompts.append(prompt)
        return self._lines.pop(0) if self._lines else None

    @property
    def text(self) -> str:
        return "\n".join(self.shown)
