"""A ward whose user has to look at things before anything can be done: what an act tells, the user knows."""

from typing import Self

from sandbox_mcp import Id, Moment, Table, Tx, World, column, key


class Bed(Table):
    """A bed."""

    number: Id[Self] = key()
    room: str


class Patient(Table):
    """A person, with or without a bed."""

    id: Id[Self] = key()
    name: str = column(person=True)
    pager: str
    bed: Id[Bed] | None = None
    leaves: Moment | None = None


class Drug(Table, fixed="drugs.csv"):
    """What the pharmacy has."""

    id: Id[Self] = key()
    name: str


class Round(Table):
    """A round on which a drug is given to some patients."""

    id: Id[Self] = key()
    drug: Id[Drug]
    patients: list[Id[Patient]]


ward = World("ward", tables=[Bed, Patient, Drug, Round], place="on the ward")


@ward.query
def find_patients(tx: Tx, name: str) -> list[Patient]:
    """List patients whose name contains a text, such as "Berg"."""
    return [row for row in tx.all(Patient) if name.casefold() in row.name.casefold()]


@ward.query
def list_beds(tx: Tx) -> list[Bed]:
    """List the beds that are free."""
    taken = [row.bed for row in tx.all(Patient)]
    return [bed for bed in tx.all(Bed) if bed.number not in taken]


@ward.action(updates=[Patient.bed])
def move_patient(tx: Tx, patient: Id[Patient], bed: Id[Bed]) -> Patient:
    """Move a patient to a bed."""
    return tx.change(tx.get(Patient, patient), bed=tx.get(Bed, bed).number)


@ward.action(updates=[Patient.leaves])
def plan_leave(tx: Tx, patient: Id[Patient], leaves: Moment) -> Patient:
    """Say when a patient goes home."""
    return tx.change(tx.get(Patient, patient), leaves=leaves)


@ward.query
def find_drugs(tx: Tx, name: str) -> list[Drug]:
    """List drugs whose name contains a text, such as "cetam"."""
    return [row for row in tx.all(Drug) if name.casefold() in row.name.casefold()]


@ward.action(adds=[Round], said=["planned"])
def plan_round(tx: Tx, drug: Id[Drug], patients: list[Id[Patient]]) -> Round:
    """Plan a round on which a drug is given to patients."""
    given = [tx.get(Patient, patient).id for patient in patients]
    return tx.add(Round, drug=tx.get(Drug, drug).id, patients=given)


@ward.user_action(updates=[])
def read_wristband(tx: Tx) -> str:
    """Read the wristband of the patient without a bed."""
    row = tx.one(Patient, bed=None)
    return f"The wristband says {row.name}, pager {row.pager}."
