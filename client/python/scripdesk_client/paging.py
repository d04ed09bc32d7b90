"""Lists that are asked for when they are used."""

from __future__ import annotations

from typing import Any, Callable, Generic, Iterator, Mapping, Optional, TypeVar, cast

Page = TypeVar("Page")
Row = TypeVar("Row")


class PagedList(Generic[Page, Row]):
    """Iterated it is all rows over all pages; each page is asked for when the one before is used up."""

    def __init__(self, items: str, read: Callable[[Optional[str]], Any]) -> None:
        self._items = items
        self._read = read

    def __iter__(self) -> Iterator[Row]:
        for page in self.pages():
            yield from cast(Mapping[str, Any], page)[self._items]

    def page(self) -> Page:
        """The first page as on the wire, with ``has_more`` and ``next_cursor``."""
        return cast(Page, self._read(None))

    def pages(self) -> Iterator[Page]:
        """The pages, for whoever keeps cursors."""
        cursor: Optional[str] = None
        while True:
            page = self._read(cursor)
            yield page
            cursor = page.get("next_cursor")
            if not page.get("has_more") or cursor is None:
                return
