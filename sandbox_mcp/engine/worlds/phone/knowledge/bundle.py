"""Everything the world knows, one source per domain.

Policy: a domain answers from the offline source unless another source is given for it. Nothing is imported or loaded
before the first question to its domain.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sandbox_mcp.engine.worlds.phone.knowledge.currency import CurrencySource
    from sandbox_mcp.engine.worlds.phone.knowledge.distance import DistanceSource
    from sandbox_mcp.engine.worlds.phone.knowledge.gazetteer import GazetteerSource
    from sandbox_mcp.engine.worlds.phone.knowledge.holidays import HolidaySource
    from sandbox_mcp.engine.worlds.phone.knowledge.places import PlaceSource
    from sandbox_mcp.engine.worlds.phone.knowledge.stocks import StockSource
    from sandbox_mcp.engine.worlds.phone.knowledge.units import UnitSource
    from sandbox_mcp.engine.worlds.phone.knowledge.weather import WeatherSource

DOMAINS = ("currency", "distance", "gazetteer", "holidays", "places", "stocks", "units", "weather")
"""The names of the domains, which are also the attributes of ``Knowledge``."""

LONGEST_NAME = 200
"""How many characters the name of a place, a holiday or a share may have; nothing goes by a longer one."""


class Knowledge:
    """The sources of all domains; immutable, and safe to share between sessions.

    Example: ``Knowledge().units.convert(20, "celsius", "fahrenheit")`` is ``68.0``.
    """

    currency: "CurrencySource"
    """Exchange rates."""
    distance: "DistanceSource"
    """Distances on the globe."""
    gazetteer: "GazetteerSource"
    """Addresses of coordinates."""
    holidays: "HolidaySource"
    """Dates of holidays."""
    places: "PlaceSource"
    """Sights, shops, restaurants and towns."""
    stocks: "StockSource"
    """Shares and their prices."""
    units: "UnitSource"
    """Units of measurement."""
    weather: "WeatherSource"
    """The weather."""

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
        given = (currency, distance, gazetteer, holidays, places, stocks, units, weather)
        vars(self).update((domain, source) for domain, source in zip(DOMAINS, given, strict=True) if source)

    def __getattr__(self, domain: str) -> Any:
        """The offline source of a domain that no other was given for, made when it is first asked for."""
        if domain not in DOMAINS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {domain!r}")
        module = import_module(f"sandbox_mcp.engine.worlds.phone.knowledge.{domain}")
        return vars(self).setdefault(domain, getattr(module, f"Offline{domain.capitalize()}")())
