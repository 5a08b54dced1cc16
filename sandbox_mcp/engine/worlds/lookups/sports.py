"""Two leagues over three seasons: tables, matches, squads and what players did."""

from typing import Literal, Self, TypedDict

from sandbox_mcp.engine.tools.declaring import World
from sandbox_mcp.engine.world.tables import Id, Table, key
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.lookups.looking import check_year, first, has_words, only

League = Literal["Harbour League", "Summit League"]
Position = Literal["goalkeeper", "defender", "midfielder", "forward"]
Venue = Literal["home", "away"]
SEASONS = range(2023, 2026)


class Team(Table, fixed="data/sports_teams.csv"):
    """A team."""

    id: Id[Self] = key()
    name: str
    league: League


class Player(Table, fixed="data/sports_players.csv"):
    """A player of a team."""

    id: Id[Self] = key()
    name: str
    team: Id[Team]
    position: Position
    shirt: int


class Record(Table, fixed="data/sports_records.csv"):
    """What a player did in a season."""

    id: Id[Self] = key()
    player: Id[Player]
    season: int
    games: int
    goals: int
    assists: int
    yellow_cards: int


class Match(Table, fixed="data/sports_matches.csv"):
    """A match; days are written as 2024-05-31."""

    id: Id[Self] = key()
    season: int
    day: str
    home: Id[Team]
    away: Id[Team]
    home_goals: int
    away_goals: int
    spectators: int


class Standing(TypedDict):
    """A line of a league's table."""

    place: int
    team: str
    won: int
    drawn: int
    lost: int
    goals: int
    conceded: int
    points: int


class Scorer(TypedDict):
    """A line of the list of scorers."""

    player: str
    team: str
    goals: int


class _SquadLine(TypedDict):
    """A player of a squad."""

    player: str
    position: Position
    shirt: int


class _MatchLine(TypedDict):
    """A match in a list."""

    day: str
    home: str
    away: str
    home_goals: int
    away_goals: int


class _MatchReport(_MatchLine):
    """All that is known of a match."""

    spectators: int


class Statistics(TypedDict):
    """What a player did in a season."""

    player: str
    team: str
    games: int
    goals: int
    assists: int
    yellow_cards: int


sports = World(
    "sports",
    tables=[Team, Player, Record, Match],
    instructions="You answer questions about two football leagues, the Harbour League and the Summit League.",
    user="You talk to an assistant that knows the results of two football leagues.",
    place="in the leagues' records",
)


def _team(tx: Tx, name: str) -> Team:
    return only([row for row in tx.all(Team) if has_words(row.name, name)], f"team {name!r}")


def _name(tx: Tx, team: Id[Team]) -> str:
    return tx.get(Team, team).name


@sports.query
def get_league_season_table(tx: Tx, league: League, season: int) -> list[Standing]:
    """Get the final table of a league: a win counts three points, a draw one.

    Args:
        league: The league.
        season: The year of the season, 2023 to 2025.
    """
    check_year("season", season, SEASONS)
    lines: list[Standing] = []
    for team in tx.all(Team, league=league):
        home, away = tx.all(Match, home=team.id, season=season), tx.all(Match, away=team.id, season=season)
        pairs = [(row.home_goals, row.away_goals) for row in home] + [(row.away_goals, row.home_goals) for row in away]
        won, drawn = sum(own > other for own, other in pairs), sum(own == other for own, other in pairs)
        lines.append(
            Standing(
                place=0,
                team=team.name,
                won=won,
                drawn=drawn,
                lost=len(pairs) - won - drawn,
                goals=sum(own for own, _ in pairs),
                conceded=sum(other for _, other in pairs),
                points=3 * won + drawn,
            )
        )
    ranked = sorted(lines, key=lambda line: (-line["points"], line["conceded"] - line["goals"], line["team"]))
    return [{**line, "place": place} for place, line in enumerate(ranked, start=1)]


@sports.query
def get_league_season_scorers(tx: Tx, league: League, season: int, limit: int | None = None) -> list[Scorer]:
    """List who scored most in a league, the best first.

    Args:
        league: The league.
        season: The year of the season, 2023 to 2025.
        limit: How many to list, 1 to 25; 25 if it is left out.
    """
    check_year("season", season, SEASONS)
    teams = {team.id: team.name for team in tx.all(Team, league=league)}
    players = {player.id: player for team in teams for player in tx.all(Player, team=team)}
    scored = [row for row in tx.all(Record, season=season) if row.goals and row.player in players]
    chosen = [(row, players[row.player]) for row in scored]
    ranked = sorted(chosen, key=lambda pair: (-pair[0].goals, pair[1].name))
    return [
        Scorer(player=player.name, team=teams[player.team], goals=row.goals) for row, player in first(ranked, limit)
    ]


@sports.query
def get_team_squad(tx: Tx, team: str, position: Position | None = None) -> list[_SquadLine]:
    """List a team's players with position and shirt number.

    Args:
        team: The team's name, or the part of it that is known.
        position: Only players in this position.
    """
    rows = tx.all(Player, team=_team(tx, team).id)
    return [
        _SquadLine(player=row.name, position=row.position, shirt=row.shirt)
        for row in rows
        if position in (None, row.position)
    ]


@sports.query
def get_team_season_matches(tx: Tx, team: str, season: int, venue: Venue | None = None) -> list[_MatchLine]:
    """List a team's matches of a season with their results, the earliest first.

    Args:
        team: The team's name, or the part of it that is known.
        season: The year of the season, 2023 to 2025.
        venue: Only matches at home, or only those away.
    """
    check_year("season", season, SEASONS)
    id_ = _team(tx, team).id
    return [
        _MatchLine(
            day=row.day,
            home=_name(tx, row.home),
            away=_name(tx, row.away),
            home_goals=row.home_goals,
            away_goals=row.away_goals,
        )
        for row in tx.all(Match, season=season)
        if (row.home == id_ and venue != "away") or (row.away == id_ and venue != "home")
    ]


@sports.query
def get_player_season_statistics(tx: Tx, player: str, season: int) -> Statistics:
    """Get how many games, goals, assists and yellow cards a player had in a season.

    Args:
        player: The player's name, or the part of it that is known.
        season: The year of the season, 2023 to 2025.
    """
    check_year("season", season, SEASONS)
    found = only([row for row in tx.all(Player) if has_words(row.name, player)], f"player {player!r}")
    row = tx.one(Record, player=found.id, season=season)
    return Statistics(
        player=found.name, team=_name(tx, found.team), games=row.games, goals=row.goals, assists=row.assists,
        yellow_cards=row.yellow_cards,
    )  # fmt: skip


@sports.query
def get_match_report(tx: Tx, home: str, away: str, season: int) -> _MatchReport:
    """Get the day, the result and the number of spectators of one match.

    Args:
        home: The name of the team that played at home.
        away: The name of the team that played away.
        season: The year of the season, 2023 to 2025.
    """
    check_year("season", season, SEASONS)
    ids = _team(tx, home).id, _team(tx, away).id
    row = only([row for row in tx.all(Match, season=season) if (row.home, row.away) == ids], "such match")
    return _MatchReport(
        day=row.day, home=_name(tx, row.home), away=_name(tx, row.away), home_goals=row.home_goals,
        away_goals=row.away_goals, spectators=row.spectators,
    )  # fmt: skip
