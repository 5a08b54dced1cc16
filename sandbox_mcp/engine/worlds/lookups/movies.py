"""A database of films and the people who made them: casts, crews, ratings, takings, releases and awards."""

from typing import Literal, Self, TypedDict

from sandbox_mcp.engine.tools.declaring import World
from sandbox_mcp.engine.world.tables import Id, Table, key
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.lookups.looking import first, has_words, known

Genre = Literal["adventure", "comedy", "crime", "documentary", "drama", "horror", "mystery", "romance", "thriller"]
Job = Literal["director", "writer", "composer", "editor"]
Country = Literal["Canada", "France", "Japan", "Norway", "United Kingdom"]


class Movie(Table, fixed="data/movies.csv"):
    """A film; money is in whole dollars, the runtime in minutes, what was thought of it in percent."""

    id: Id[Self] = key()
    title: str
    year: int
    runtime: int
    genres: list[Genre]
    language: str
    studio: str
    budget: int
    gross: int
    critics: int
    audience: int
    votes: int


class Person(Table, fixed="data/movie_people.csv"):
    """A person who acts in films or makes them."""

    id: Id[Self] = key()
    name: str
    born: str
    birthplace: str


class Part(Table, fixed="data/movie_cast.csv"):
    """Who plays whom in a film, in the order of its credits."""

    id: Id[Self] = key()
    movie: Id[Movie]
    person: Id[Person]
    role: str


class Credit(Table, fixed="data/movie_crew.csv"):
    """Who did what behind the camera."""

    id: Id[Self] = key()
    movie: Id[Movie]
    person: Id[Person]
    job: Job


class Release(Table, fixed="data/movie_releases.csv"):
    """When a film came out in a country, and where it can be streamed there."""

    id: Id[Self] = key()
    movie: Id[Movie]
    country: Country
    day: str
    services: list[str]


class Award(Table, fixed="data/movie_awards.csv"):
    """A nomination for an award."""

    id: Id[Self] = key()
    movie: Id[Movie]
    award: str
    category: str
    year: int
    won: bool


class _MovieLine(TypedDict):
    """A film in a list."""

    movie: str
    title: str
    year: int


class _MovieDetails(_MovieLine):
    """What a film is; the runtime in minutes."""

    runtime: int
    genres: list[Genre]
    language: str
    studio: str


class _PersonLine(TypedDict):
    """A person in a list."""

    person: str
    name: str


class _CastLine(_PersonLine):
    """A person of a cast."""

    role: str


class _FilmCrewLine(_PersonLine):
    """A person of a crew."""

    job: Job


class _PartLine(_MovieLine):
    """A film, and the role that a person plays in it."""

    role: str


class _JobLine(_MovieLine):
    """A film, and the job that a person had in it."""

    job: Job


class _Ratings(TypedDict):
    """How many in a hundred critics and in a hundred of the audience liked a film, and how many people voted."""

    critics: int
    audience: int
    votes: int


class _BoxOffice(TypedDict):
    """What a film cost and took, in dollars."""

    budget: int
    gross: int


class _ReleaseLine(TypedDict):
    """When a film came out in a country."""

    country: Country
    day: str


class _AwardLine(TypedDict):
    """A nomination."""

    award: str
    category: str
    year: int
    won: bool


movies = World(
    "movies",
    tables=[Movie, Person, Part, Credit, Release, Award],
    instructions="You answer questions with the help of a database of films.",
    user="You talk to an assistant that can look films and people up for you.",
    place="in the film database",
)


def _movie(tx: Tx, movie: str) -> Movie:
    return known(tx, Movie, movie, "film")


def _person(tx: Tx, person: str) -> Person:
    return known(tx, Person, person, "person")


def _line(row: Movie) -> _MovieLine:
    return _MovieLine(movie=row.id, title=row.title, year=row.year)


@movies.query
def get_movie_search(tx: Tx, title: str, year: int | None = None) -> list[_MovieLine]:
    """Find films by words of their title, the oldest first, 25 at most.

    Args:
        title: The title, or some words of it.
        year: Only films of this year.
    """
    found = [row for row in tx.all(Movie) if has_words(row.title, title) and year in (None, row.year)]
    return [_line(row) for row in first(found, None)]


@movies.query
def get_movie_details(tx: Tx, movie: Id[Movie]) -> _MovieDetails:
    """Get a film's year, runtime, genres, language and studio.

    Args:
        movie: The film's id.
    """
    row = _movie(tx, movie)
    return _MovieDetails(
        movie=row.id, title=row.title, year=row.year, runtime=row.runtime, genres=row.genres, language=row.language,
        studio=row.studio,
    )  # fmt: skip


@movies.query
def get_movie_cast(tx: Tx, movie: Id[Movie]) -> list[_CastLine]:
    """List who plays whom in a film, the leading part first.

    Args:
        movie: The film's id.
    """
    rows = tx.all(Part, movie=_movie(tx, movie).id)
    return [_CastLine(person=row.person, name=_person(tx, row.person).name, role=row.role) for row in rows]


@movies.query
def get_movie_crew(tx: Tx, movie: Id[Movie], job: Job | None = None) -> list[_FilmCrewLine]:
    """List who worked on a film behind the camera.

    Args:
        movie: The film's id.
        job: Only people with this job.
    """
    rows = [row for row in tx.all(Credit, movie=_movie(tx, movie).id) if job in (None, row.job)]
    return [_FilmCrewLine(person=row.person, name=_person(tx, row.person).name, job=row.job) for row in rows]


@movies.query
def get_movie_ratings(tx: Tx, movie: Id[Movie]) -> _Ratings:
    """Get what percentage of the critics and of the audience liked a film.

    Args:
        movie: The film's id.
    """
    row = _movie(tx, movie)
    return _Ratings(critics=row.critics, audience=row.audience, votes=row.votes)


@movies.query
def get_movie_box_office(tx: Tx, movie: Id[Movie]) -> _BoxOffice:
    """Get what a film cost and what it took in cinemas, in dollars.

    Args:
        movie: The film's id.
    """
    row = _movie(tx, movie)
    return _BoxOffice(budget=row.budget, gross=row.gross)


@movies.query
def get_movie_releases(tx: Tx, movie: Id[Movie], country: Country | None = None) -> list[_ReleaseLine]:
    """List the days on which a film came to cinemas.

    Args:
        movie: The film's id.
        country: Only this country.
    """
    rows = [row for row in tx.all(Release, movie=_movie(tx, movie).id) if country in (None, row.country)]
    return [_ReleaseLine(country=row.country, day=row.day) for row in rows]


@movies.query
def get_movie_streaming(tx: Tx, movie: Id[Movie], country: Country) -> list[str]:
    """List the services that stream a film in a country.

    Args:
        movie: The film's id.
        country: The country.
    """
    rows = tx.all(Release, movie=_movie(tx, movie).id)
    return [service for row in rows if row.country == country for service in row.services]


@movies.query
def get_movie_awards(tx: Tx, movie: Id[Movie], won: bool | None = None) -> list[_AwardLine]:
    """List the awards that a film was nominated for.

    Args:
        movie: The film's id.
        won: True for those it won only, false for those it did not win.
    """
    rows = [row for row in tx.all(Award, movie=_movie(tx, movie).id) if won in (None, row.won)]
    return [_AwardLine(award=row.award, category=row.category, year=row.year, won=row.won) for row in rows]


@movies.query
def get_person_search(tx: Tx, name: str) -> list[_PersonLine]:
    """Find people by name, 25 at most.

    Args:
        name: The name, or a part of it.
    """
    rows = [row for row in tx.all(Person) if has_words(row.name, name)]
    return [_PersonLine(person=row.id, name=row.name) for row in first(rows, None)]


@movies.query
def get_person_details(tx: Tx, person: Id[Person]) -> Person:
    """Get when and where somebody was born.

    Args:
        person: The person's id.
    """
    return _person(tx, person)


@movies.query
def get_person_cast_credits(tx: Tx, person: Id[Person]) -> list[_PartLine]:
    """List the films in which somebody plays, the oldest first.

    Args:
        person: The person's id.
    """
    parts = tx.all(Part, person=_person(tx, person).id)
    rows = sorted(((_movie(tx, part.movie), part.role) for part in parts), key=lambda pair: pair[0].year)
    return [_PartLine(movie=row.id, title=row.title, year=row.year, role=role) for row, role in rows]


@movies.query
def get_person_crew_credits(tx: Tx, person: Id[Person], job: Job | None = None) -> list[_JobLine]:
    """List the films that somebody worked on behind the camera, the oldest first.

    Args:
        person: The person's id.
        job: Only films on which the person had this job.
    """
    done = [row for row in tx.all(Credit, person=_person(tx, person).id) if job in (None, row.job)]
    rows = sorted(((_movie(tx, row.movie), row) for row in done), key=lambda pair: pair[0].year)
    return [_JobLine(movie=row.id, title=row.title, year=row.year, job=credit.job) for row, credit in rows]


@movies.query
def get_genre_movies(
    tx: Tx, genre: Genre, from_year: int | None = None, to_year: int | None = None, language: str | None = None
) -> list[_MovieLine]:
    """List the films of a genre, the oldest first, 25 at most.

    Args:
        genre: The genre.
        from_year: The first year that counts.
        to_year: The last year that counts.
        language: Only films in this language, such as Norwegian.
    """
    rows = [
        row
        for row in tx.all(Movie)
        if genre in row.genres
        and (from_year is None or row.year >= from_year)
        and (to_year is None or row.year <= to_year)
        and (language is None or row.language.casefold() == language.casefold())
    ]
    return [_line(row) for row in first(rows, None)]
