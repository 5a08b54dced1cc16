// Two runs beside each other: the paired difference and what flipped; and two sessions, aligned at their calls.
"use strict";

class ComparePage {
  constructor(app, overview, found, place) {
    Object.assign(this, {app, place, found});
    const [a, b] = [found.a, found.b].map((key) => overview.runs.find((run) => run.key === key));
    this.chip = "Different";
    this.list = h("tbody");
    this.chips = h("div", {class: "chips", role: "group", "aria-label": "which pairs"});
    const {difference, mcnemar} = found;
    const verdict = !difference ? "There is nothing that both scored." : difference.low > 0 ? "B is better." : difference.high < 0 ? "B is worse." : "No difference is shown.";
    place.replaceChildren(h("main", {class: "page"}, h("nav", {}, h("a", {href: "#/"}, "All runs")), h("h1", {}, "A: ", foreign(a.name), " against B: ", foreign(b.name)),
      difference ? h("p", {class: "headline"}, h("span", {class: "score"}, `${difference.value >= 0 ? "+" : "−"}${number(Math.abs(difference.value), 3)}`), h("span", {class: "dim"}, ` [${number(difference.low, 3)}, ${number(difference.high, 3)}] `), h("b", {}, verdict)) : h("p", {}, verdict),
      h("p", {class: "dim"}, [mcnemar ? `Passed by A alone: ${mcnemar.only_a}, by B alone: ${mcnemar.only_b} (McNemar p ${mcnemar.p < 0.001 ? "< 0.001" : `= ${number(mcnemar.p, 3)}`}).` : "", found.smallest ? ` A difference below ${number(found.smallest, 3)} would not be seen.` : "", found.left_out ? ` ${found.left_out}` : ""]),
      this.dots(), h("h2", {}, "Pairs"), this.chips, h("div", {class: "wide"}, h("table", {class: "sessions"}, h("thead", {}, h("tr", {}, ["A", "B", "difference", "scenario", "variant", "trial"].map((name) => h("th", {scope: "col"}, name)))), this.list))));
    this.show();
  }

  dots() {
    const at = (value) => 10 + 180 * value;
    const dots = this.found.pairs.filter((p) => p.a !== null && p.b !== null).slice(0, 4000).map((p) => svg("circle", {cx: at(p.a), cy: 200 - at(p.b), r: 3.5, class: `pair ${p.b > p.a ? "ok" : p.b < p.a ? "bad" : "open"}`}));
    const word = (x, y, text) => svg("text", {x, y}, text);
    const words = [word(at(0), 205, "0"), word(at(1), 205, "1"), word(at(0.5), 207, "score of A"), word(2, 194, "0"), word(2, 14, "1"), svg("text", {transform: "translate(-2 100) rotate(-90)"}, "score of B")];
    return svg("svg", {class: "dots", viewBox: "-16 -2 228 228", role: "img", "aria-label": "every pair: A to the right, B upwards; above the line B is better"}, svg("path", {d: "M10 190H190V10H10Z", class: "axis"}), svg("path", {d: "M10 190L190 10", class: "axis"}), words, dots);
  }

  show() {
    const both = (p) => p.a !== null && p.b !== null;
    const ways = {Worse: (p) => both(p) && p.b < p.a, Better: (p) => both(p) && p.b > p.a, Different: (p) => both(p) && p.a !== p.b, "Both fail": (p) => both(p) && p.a < 1 && p.b < 1, "Only in one": (p) => p.a === null || p.b === null, All: () => true};
    this.chips.replaceChildren(...Object.entries(ways).map(([name, fit]) => pressed(`${name} ${this.found.pairs.filter(fit).length}`, name === this.chip, () => { this.chip = name; this.show(); })));
    const pairs = this.found.pairs.filter(ways[this.chip]).map((p) => [p, (p.b ?? 0) - (p.a ?? 0)]).sort(([, p], [, q]) => Math.abs(q) - Math.abs(p) || p - q).map(([p]) => p);
    this.list.replaceChildren(...pairs.slice(0, 1000).map((p) => h("tr", {}, h("td", {class: "mono tight"}, number(p.a)), h("td", {class: "mono tight"}, number(p.b)), h("td", {class: `mono tight ${!both(p) ? "dim" : p.b > p.a ? "ok" : p.b < p.a ? "bad" : ""}`}, p.a === null || p.b === null ? "–" : number(p.b - p.a)),
      h("td", {class: "name"}, p.id_a && p.id_b ? h("a", {href: link(["pair", p.id_a, p.id_b])}, visible(p.scenario)) : visible(p.scenario)), h("td", {}, visible(p.variant)), h("td", {class: "mono"}, p.trial))));
    if (!pairs.length) this.list.append(h("tr", {}, h("td", {colspan: 6, class: "dim"}, "There is no such pair.")));
  }

  key() { return false; }
}

// What an event is for the purpose of aligning two sessions: its call, or who speaks to whom.
const gist = (event) => event.event === "tool_call" ? `${event.tool || event.name} ${JSON.stringify(event.arguments)}` : event.event === "message" ? `${event.sender}>${event.recipient}` : "end";

// What was said or came of it: two events that are aligned may still differ in this.
const upshot = (event) => event.event === "tool_call" ? JSON.stringify([event.result, event.error]) : event.content ?? event.reason;

// The longest common sequence of two lists of texts, as pairs of indexes. Cut at 600 each, where the table would be large.
function common(left, right) {
  const [n, m] = [Math.min(left.length, 600), Math.min(right.length, 600)];
  const table = Array.from({length: n + 1}, () => new Uint16Array(m + 1));
  for (let i = n - 1; i >= 0; i--) for (let j = m - 1; j >= 0; j--) table[i][j] = left[i] === right[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
  const pairs = [];
  for (let i = 0, j = 0; i < n && j < m;) {
    if (left[i] === right[j]) pairs.push([i++, j++]);
    else if (table[i + 1][j] >= table[i][j + 1]) i++; else j++;
  }
  return pairs;
}

class PairPage {
  constructor(app, one, two, place) {
    this.pages = [one, two].map((detail) => new SessionPage(detail, h("div")));
    const [a, b] = this.pages;
    const pairs = common(a.events.map(gist), b.events.map(gist));
    const rows = [];
    let [i, j] = [0, 0];
    let divergence = null;
    const line = (left, right) => {
      const row = h("tr", {class: !(left && right) ? "apart" : upshot(left) === upshot(right) ? "alike" : "unlike"}, [left, right].map((cell) => h("td", {}, cell ? [h("span", {class: "mono dim"}, `#${cell.seq} `), cell.page.body(cell), cell.page.tags.get(cell.seq)?.map((tag) => h("span", {class: `tag ${tag.kind}`, title: tag.why}, tag.text))] : "")));
      if (!divergence && !row.classList.contains("alike")) divergence = row;
      rows.push(row);
    };
    const of = (page, index) => ({...page.events[index], page});
    for (const [x, y] of [...pairs, [a.events.length, b.events.length]]) {
      while (i < x && j < y) line(of(a, i++), null), line(null, of(b, j++));
      while (i < x) line(of(a, i++), null);
      while (j < y) line(null, of(b, j++));
      if (x < a.events.length && y < b.events.length) line(of(a, i++), of(b, j++));
    }
    const head = (detail) => h("th", {scope: "col"}, h("span", {class: `score ${levelOf(detail.state)}`}, number(detail.score)), " ", h("a", {href: link(["s", detail.id])}, visible(detail.id)), h("div", {class: levelOf(detail.state)}, detail.verdict), h("ul", {class: "causes"}, detail.causes.slice(0, 3).map((cause) => h("li", {}, h("b", {class: cause.level}, cause.kind + " "), visible(cause.text)))));
    const runs = [one.run, two.run];
    const nav = h("nav", {}, runs[0] === runs[1] ? h("a", {href: link(["r", runs[0]])}, "← ", foreign(runs[0])) : h("a", {href: link(["compare", ...runs])}, "← ", foreign(runs[0]), " against ", foreign(runs[1])));
    place.replaceChildren(h("main", {class: "page"}, nav, h("h1", {}, visible(one.scenario || "Two sessions")), h("p", {class: "dim"}, divergence ? "The first row in which the two differ is marked; where one side is empty, only the other did that." : "Both did the same."),
      h("table", {class: "aligned"}, h("thead", {}, h("tr", {}, head(one), head(two))), h("tbody", {}, rows))));
    divergence?.classList.add("divergence");
    divergence?.scrollIntoView({block: "center"});
  }
  key() { return false; }
}
