"""Everything the world knows, one source per domain.

Policy: a domain answers from the offline source unless another source is given for it. Nothing is imported or loaded
before the first question to its domain.
"""

from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sandbox_mcp.worlds.phone.knowledge.currency import CurrencySource
    from sandbox_mcp.worlds.phone.knowledge.distance import DistanceSource
    from sandbox_mcp.worlds.phone.knowledge.gazetteer import GazetteerSource
    from sandbox_mcp.worlds.phone.knowledge.holidays import HolidaySource
    from sandbox_mcp.worlds.phone.knowledge.places import PlaceSource
    from sandbox_mcp.worlds.phone.knowledge.stocks import StockSource
    from sandbox_mcp.worlds.phone.knowledge.units import UnitSource
    from sandbox_mcp.worlds.phone.knowledge.weather import WeatherSource

DOMAINS = ("currency", "distance", "gazetteer", "holidays", "places", "stocks", "units", "weather")
"""The names of the domains, which are also the attributes of ``Knowledge``."""

LONGEST_NAME = 200
"""How many characters the name of a place, a holiday or a share may have; nothing goes by a longer one."""


class Knowledge:
    """The sources of all domains; immutable, and safe to share between sessions.

    Example: ``Knowledge().units.convert(20, "celsius", "fahrenheit")`` is ``68.0``.
    """

    def __init__(
        self,
        *,
        currency: "CurrencySource | None" = None,
        distance: "DistanceSource | None" = None,
        gazetteer: "GazetteerSource | None" = None,
        holidays: "HolidaySource | None" = None,
        places: "PlaceSource | None" = None,
        stocks: "StockSource | None" = None,
        units: "UnitSource | None" = None,
        weather: "WeatherSource | None" = None,
    ) -> None:
        self._given: dict[str, Any] = {
            "currency": currency,
            "distance": distance,
            "gazetteer": gazetteer,
            "holidays": holidays,
            "places": places,
            "stocks": stocks,
            "units": units,
            "weather": weather,
        }

    @cached_property
    def currency(self) -> "CurrencySource":
        """Exchange rates."""
        from sandbox_mcp.worlds.phone.knowledge.currency import OfflineCurrency

        return self._given["currency"] or OfflineCurrency()

    @cached_property
    def distance(self) -> "DistanceSource":
        """Distances on the globe."""
        from sandbox_mcp.worlds.phone.knowledge.distance import OfflineDistance

        return self._given["distance"] or OfflineDistance()

    @cached_property
    def gazetteer(self) -> "GazetteerSource":
        """Addresses of coordinates."""
        from sandbox_mcp.worlds.phone.knowledge.gazetteer import OfflineGazetteer

        return self._given["gazetteer"] or OfflineGazetteer()

    @cached_property
    def holidays(self) -> "HolidaySource":
        """Dates of holidays."""
        from sandbox_mcp.worlds.phone.knowledge.holidays import OfflineHolidays

        return self._given["holidays"] or OfflineHolidays()

    @cached_property
    def places(self) -> "PlaceSource":
        """Sights, shops, restaurants and towns."""
        from sandbox_mcp.worlds.phone.knowledge.places import OfflinePlaces

        return self._given["places"] or OfflinePlaces()

    @cached_property
    def stocks(self) -> "StockSource":
        """Shares and their prices."""
        from sandbox_mcp.worlds.phone.knowledge.stocks import OfflineStocks

        return self._given["stocks"] or OfflineStocks()

    @cached_property
    def units(self) -> "UnitSource":
        """Units of measurement."""
        from sandbox_mcp.worlds.phone.knowledge.units import OfflineUnits

        return self._given["units"] or OfflineUnits()

    @cached_property
    def weather(self) -> "WeatherSource":
        """The weather."""
        from sandbox_mcp.worlds.phone.knowledge.weather import OfflineWeather

        return self._given["weather"] or OfflineWeather()
