"""Words that may stand for each other when an instance is drawn, by kind.

Policy: a kind is what a reader takes a word for, so that a story stays true whichever of its words stands there: a
sister stays a woman, groceries stay things to buy. No word of a pool means anything to a tool.
"""

from collections.abc import Mapping


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


POOLS: Mapping[str, tuple[str, ...]] = {
    "woman": _words(
        "Amara Birgit Carlotta Dalia Enikő Farida Gwendolen Henrike Ilona Jasmin Katrin Leonor Maren Nadja Oona "
        "Runa Sanna Tove Yrsa Belén Corinna Despina Elodie Franka Ginevra Hedwig Irmgard Jovana Karolina Lucinda "
        "Nerys Ottoline Perpetua Quirina Rosalba Sidonie Thekla Ulrike Valeria Walburga Xenia Zofia"
    ),
    "man": _words(
        "Anton Boris Cemal Diego Emil Fabio Gustav Henrik Ismet Jakob Kaspar Lorenz Matteo Nikos Otto Piet Ruben "
        "Tariq Yannick Alaric Bertil Cyprian Demetrio Edmund Florian Giacomo Hector Ignaz Joaquim Konrad Leopold Mirko "
        "Norbert Orlando Pascal Quentin Rasmus Silvio Torsten Urs Vincenzo Wendel Zoltan"
    ),
    "given": _words("Alexis Camille Dominique Eden Frankie Jules Kim Lennon Marlowe Quincy Remy Sacha Toni Valentine"),
    "last": _words(
        "Aubert Bianchi Castro Dahlberg Eriksen Farkas Gallo Horvat Iversen Jelinek Koskinen Lefevre Marchetti "
        "Oliveira Petrovic Quist Romero Szabo Tanaka Urbanek Vinter Wolff Zanetti Albrecht Bergström Cardoso Dragić "
        "Espinoza Falkner Grünwald Hakala Ibáñez Jurić Kaminski Lombardi Moravec Navarro Obermann Pavlov Ricci "
        "Thorvald Ullmann Varga Winkler Zeman"
    ),
}
"""What a literal may become, by the kind that a scenario names."""
