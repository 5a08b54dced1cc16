// The list of runs, and one run: how good and how sure, what went wrong, where, and the sessions, worst first.
"use strict";

const STATE_WORDS = {passed: "passed", part: "met in part", failed: "failed", voided: "voided", unscored: "not scored", spoiled: "spoiled by the user"};
const STATE_MARKS = {passed: "✓", part: "◐", failed: "✗", voided: "⊗", unscored: "?", spoiled: "!"};
const measured = (value) => value !== null && value !== undefined;
const link = (parts, parameters = {}) => "#/" + parts.map(encodeURIComponent).join("/") + (Object.keys(parameters).length ? "?" + new URLSearchParams(parameters) : "");

// Mean with its interval as a bar; the scores of a refusing agent and of a blind replay are ticks on it, and the reference's where that is not 1.
function intervalBar(run) {
  const {score} = run;
  if (!score) return h("span", {class: "dim"}, "nothing scored");
  const x = (value) => 4 + 192 * Math.max(0, Math.min(1, value));
  return svg("svg", {class: "interval", viewBox: "0 0 200 20", preserveAspectRatio: "xMinYMid", role: "img", "aria-label": `score ${number(score.mean, 3)}, 95 % interval ${number(score.low, 3)} to ${number(score.high, 3)}, floor ${number(run.floor, 3)}${run.ceiling === null ? "" : `, ceiling ${number(run.ceiling, 3)}`}${measured(run.blind_replay) ? `, blind replay ${number(run.blind_replay, 3)}` : ""}`},
    svg("line", {x1: 4, x2: 196, y1: 10, y2: 10, class: "axis"}), svg("line", {x1: x(score.low), x2: x(score.high), y1: 10, y2: 10, class: "span"}), svg("circle", {cx: x(score.mean), cy: 10, r: 5, class: "mean"}),
    run.floor === null ? "" : svg("line", {x1: x(run.floor), x2: x(run.floor), y1: 3, y2: 17, class: "floor"}), measured(run.blind_replay) ? svg("line", {x1: x(run.blind_replay), x2: x(run.blind_replay), y1: 3, y2: 17, class: "blind"}) : "", run.ceiling === null ? "" : svg("line", {x1: x(run.ceiling), x2: x(run.ceiling), y1: 3, y2: 17, class: "ceiling"}));
}

// How to read the bars, in the marks that they are drawn with.
function legend(runs) {
  const mark = (what) => svg("svg", {class: "interval", viewBox: "0 0 14 20", "aria-hidden": "true"}, what);
  const line = (name) => svg("line", {x1: 7, x2: 7, y1: 3, y2: 17, class: name});
  const marks = [["mean score", svg("circle", {cx: 7, cy: 10, r: 5, class: "mean"})], ["95 % interval", svg("line", {x1: 0, x2: 14, y1: 10, y2: 10, class: "span"})], ["what refusing earns", line("floor")], ["what a blind replay of the reference's calls in another instance earns", line("blind")], ["what the reference reaches, where that is not 1", line("ceiling")]];
  const shown = marks.filter((_, i) => i < 3 || runs.some((run) => measured(i === 3 ? run.blind_replay : run.ceiling)));
  return h("p", {class: "dim legend"}, shown.map(([name, drawn]) => h("span", {}, mark(drawn), ` ${name}`)));
}

const intervalText = (score) => score ? [h("b", {}, number(score.mean, 3)), h("span", {class: "dim"}, ` [${number(score.low, 3)}, ${number(score.high, 3)}]`)] : "–";
const who = (run) => [run.agent, run.model].filter(Boolean).join(" · ");
const money = (cost) => cost === null || cost === undefined ? "–" : cost < 0.1 ? cost.toFixed(4) : cost.toFixed(2);

class RunsPage {
  constructor(app, overview, place) {
    this.app = app;
    this.chosen = new Set();
    this.compare = h("button", {type: "button", disabled: true, onclick: () => this.go()}, "Compare the two");
    const row = (run) => {
      const tick = h("input", {type: "checkbox", "aria-label": `compare ${run.name}`, onchange: (e) => { e.target.checked ? this.chosen.add(run.key) : this.chosen.delete(run.key); this.compare.disabled = this.chosen.size !== 2; }});
      const named = h("td", {class: "run"}, h("a", {href: link(["r", run.key])}, foreign(run.name)), run.running ? h("span", {class: "tag warn"}, "running") : "");
      const told = {agent: foreign(who(run)), user: foreign(run.user), interval: intervalBar(run), score: intervalText(run.score), scored: `${run.counts.scored}/${run.counts.planned}`, "not scored": run.counts.unscored, spoiled: run.counts.spoiled, cost: money(run.cost), date: run.date || ""};
      return h("tr", {}, h("td", {}, tick), named, Object.entries(told).map(([name, value]) => h("td", {"data-of": name, class: name === "date" ? "dim" : null}, value)));
    };
    const head = [h("span", {class: "sr"}, "compare"), "run", "agent", "user", h("span", {class: "sr"}, "interval"), "score", "scored", "not scored", "spoiled", "cost", "date"].map((name) => h("th", {scope: "col"}, name));
    place.replaceChildren(h("main", {class: "page"}, h("h1", {}, "Runs"),
      overview.runs.length ? [h("div", {class: "row"}, overview.runs.length > 1 ? this.compare : ""), h("div", {class: "wide"}, h("table", {class: "runs cards"}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, overview.runs.map(row)))), legend(overview.runs)]
        : [h("p", {}, "There are no sessions here yet. This makes some:"), h("pre", {class: "mono"}, "sandbox-mcp run wifi_off --agent reference --out runs/first")]));
  }
  go() { const [a, b] = [...this.chosen]; location.hash = link(["compare", a, b]); }
  key() { return false; }
}

class RunPage {
  constructor(app, overview, run, place, parameters) {
    Object.assign(this, {app, run, place});
    this.query = parameters.get("q") || "";
    this.sort = parameters.get("sort") || "worst";
    this.offset = 0;
    this.rows = [];
    this.selected = -1;
    this.input = h("input", {type: "search", id: "filter", value: this.query, placeholder: "search, or scenario:wifi score:<0.5 tool:send is:flaky", "aria-label": "filter sessions", spellcheck: "false", oninput: () => this.typed()});
    this.problem = h("p", {class: "bad", role: "alert"});
    this.total = h("span", {class: "dim", role: "status"});
    this.body = h("tbody");
    this.more = h("button", {type: "button", onclick: () => this.load(true)}, "Show more");
    this.chips = h("div", {class: "chips", role: "group", "aria-label": "which sessions"});
    this.grid = h("div", {class: "grid-place"});
    place.replaceChildren(h("main", {class: "page"}, this.summary(overview), this.wrong(), this.grid, this.sessions()));
    this.load();
    this.showGrid();
  }

  summary(overview) {
    const {run} = this;
    const facts = [["agent", who(run)], ["user", run.user], ["mode", run.mode], ["date", run.date], ["versions", run.versions], ["variants", run.variants.join(", ")], ["trials", run.trials], ["cost", run.cost === null ? null : money(run.cost)],
      ["tokens", run.tokens ? run.tokens.toLocaleString("en") : null], ["time in sessions", run.seconds ? duration(run.seconds) : null]].filter(([, value]) => value !== null && value !== undefined && value !== "");
    return h("header", {}, overview.runs.length > 1 ? h("nav", {}, h("a", {href: "#/"}, "All runs")) : "", h("h1", {}, foreign(run.name), run.running ? h("span", {class: "tag warn"}, "running") : ""),
      this.headline = this.score(),
      h("dl", {class: "facts"}, facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, foreign(value))))), run.sample ? h("p", {class: "warn"}, run.sample) : "");
  }

  score() {
    const {run} = this;
    const {counts} = run;
    return h("div", {class: "headline"}, h("div", {}, h("span", {class: "score"}, run.score ? number(run.score.mean, 3) : "–"), h("span", {class: "dim"}, run.score ? ` [${number(run.score.low, 3)}, ${number(run.score.high, 3)}] from ${count(run.score.clusters, "scenario")}` : " nothing scored")), intervalBar(run), run.score ? legend([run]) : "",
      h("div", {class: "dim"}, [`refusing earns ${number(run.floor, 3)}`, `a blind replay ${measured(run.blind_replay) ? number(run.blind_replay, 3) : "-"}`, run.ceiling === null ? null : `the reference ${number(run.ceiling, 3)}`, ...(run.pass || []).map((p) => `${p.name} ${number(p.value, 3)}`)].filter(Boolean).join(" · ")),
      h("div", {}, `${count(counts.sessions, "session")}: ${counts.scored} scored, ${counts.unscored} not scored, ${counts.spoiled} spoiled by the user`, counts.planned > counts.sessions ? `, ${counts.planned - counts.sessions} to come` : ""));
  }

  // The score of a run that is going on is the one by now; everything else waits until it is asked for.
  live(overview) {
    const run = overview.runs.find((item) => item.key === this.run.key);
    if (!run || run.counts.sessions === this.run.counts.sessions) return;
    this.run = run;
    const before = this.headline;
    before.replaceWith(this.headline = this.score());
  }

  wrong() {
    const {causes, milestones, errors} = this.run;
    if (!causes.length && !milestones.length) return "";
    const most = causes[0]?.sessions || 1;
    const bar = (n, max) => svg("svg", {class: "bar", viewBox: "0 0 100 8", "aria-hidden": "true", preserveAspectRatio: "none"}, svg("rect", {width: 100 * n / max, height: 8}));
    return h("section", {class: "split"},
      h("div", {}, h("h2", {}, "What went wrong"), causes.length ? h("ul", {class: "ranked"}, causes.map((cause) => h("li", {}, h("button", {type: "button", onclick: () => this.filter(`cause:"${cause.group}"`)}, h("span", {class: "mono"}, String(cause.sessions).padStart(4)), bar(cause.sessions, most), " ", visible(cause.group)))))
        : h("p", {class: "dim"}, "Nothing.")),
      h("div", {}, h("h2", {}, "Milestones that fail most"), h("ul", {class: "ranked"}, milestones.map((m) => h("li", {class: "one-line", title: m.why}, h("a", {href: link(["s", m.session], {m: m.id}), class: "ranked-milestone"}, m.kind === null ? [h("b", {}, visible(m.id)), " of ", visible(m.scenario)] : h("b", {}, visible(m.kind))), h("span", {class: "dim"}, m.kind === null ? ` missed ${m.missed} of ${m.sessions}: ` : ` missed ${m.missed}, such as ${m.id} of ${m.scenario}: `), h("span", {}, visible(m.why)))))),
      this.where(), errors.length ? h("div", {}, h("h2", {}, "Kinds of error"), h("ul", {class: "ranked"}, errors.map((e) => h("li", {}, h("span", {class: "mono"}, String(e.count).padStart(4)), bar(e.count, errors[0].count), " ", visible(e.name), h("span", {class: "dim"}, ` ${e.family}`))))) : "");
  }

  where() {
    const {heat} = this.run;
    if (!heat.categories.length) return "";
    return h("div", {}, h("h2", {}, "Score by category and variant"), h("div", {class: "wide"}, h("table", {class: "heat"}, h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "category"), heat.variants.map((name) => h("th", {scope: "col"}, visible(name.replaceAll("_", " ")))))),
      h("tbody", {}, heat.categories.map((name, i) => h("tr", {}, h("th", {scope: "row"}, visible(name.replaceAll("_", " "))), heat.cells[i].map((cell, j) => cell.n ? h("td", {class: `heat-${Math.round(cell.mean * 10)}`, title: count(cell.n, "session")},
        h("button", {type: "button", onclick: () => this.filter(`category:${name} variant:${heat.variants[j]}`)}, number(cell.mean))) : h("td", {class: "dim"}, "–"))))))));
  }

  async showGrid() {
    const rows = await this.app.source.grid(this.run.key);
    if (!rows || rows.length < 2 || rows.length > 4000) return;
    const groups = new Map();
    for (const row of rows) groups.set(row.scenario, [...(groups.get(row.scenario) || []), row]);
    if (groups.size > 400) return;
    const mean = (list) => { const scored = list.filter((row) => row.score !== null); return scored.length ? scored.reduce((sum, row) => sum + row.score, 0) / scored.length : 2; };
    const order = [...groups].sort((a, b) => mean(a[1]) - mean(b[1]) || (a[0] < b[0] ? -1 : 1));
    const square = (row) => h("a", {href: link(["s", row.id]), class: `square ${row.state} fill-${row.score === null ? "none" : Math.round(row.score * 4)}`, title: `${row.id}: ${STATE_WORDS[row.state]}`, "aria-label": `${row.id}: ${STATE_WORDS[row.state]} ${number(row.score)}`}, STATE_MARKS[row.state]);
    this.grid.replaceChildren(h("details", {class: "grid", open: groups.size <= 60}, h("summary", {}, h("h2", {}, `All ${count(groups.size, "scenario")}, worst first`)),
      h("ul", {class: "squares"}, order.map(([name, list]) => h("li", {}, h("span", {class: "mono name"}, visible(name)), list.map(square))))));
  }

  sessions() {
    const head = [["score", "score"], ["scenario", "scenario"], [null, "variant"], [null, "trial"], [null, "first reason"], [null, "ending"], ["turns", "turns"], ["calls", "calls"], ["errors", "errors"]];
    this.heads = head.map(([sort, name]) => h("th", {scope: "col", "aria-sort": sort && sort === this.sort ? "descending" : null}, sort ? h("button", {type: "button", onclick: () => { this.sort = this.sort === sort ? "worst" : sort; this.load(); }}, name) : name));
    return h("section", {}, h("h2", {}, "Sessions"), this.chips, h("div", {class: "row search"}, this.input, this.total), this.problem,
      h("div", {class: "wide"}, h("table", {class: "sessions cards"}, h("thead", {}, h("tr", {}, this.heads)), this.body)), this.more);
  }

  showChips() {
    const chips = [["All", ""], ["Failed", "is:failed"], ["Voided", "is:voided"], ["Not scored", "is:unscored"], ["Spoiled", "is:spoiled"], ["Flaky", "is:flaky"]];
    this.chips.replaceChildren(...chips.map(([label, query]) => pressed(label, this.query.trim() === query, () => this.filter(query))));
  }

  filter(query) { this.input.value = query; this.query = query; this.load(); this.input.scrollIntoView({block: "center"}); }

  typed() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => { this.query = this.input.value; this.load(); }, 120);
  }

  async load(append = false) {
    const asked = this.asked = (this.asked || 0) + 1;
    this.offset = append ? this.rows.length : 0;
    const answer = await this.app.source.page(this.run.key, this.query, this.sort, this.offset);
    if (asked !== this.asked) return;
    this.problem.textContent = answer.error ? `The filter cannot be used: ${answer.error}` : "";
    this.showChips();
    if (answer.error) return;
    this.rows = append ? [...this.rows, ...answer.rows] : answer.rows;
    this.app.sequence = this.rows.map((row) => row.id);
    this.total.textContent = count(answer.total, "session");
    if (!append) this.body.replaceChildren();
    const last = append ? this.rows[this.offset - 1] : undefined;
    this.body.append(...answer.rows.map((row, i) => this.row(row, i ? answer.rows[i - 1] : last)));
    if (!answer.total) this.body.append(h("tr", {}, h("td", {colspan: 9, class: "dim"}, "No session fits this filter.")));
    this.more.hidden = this.rows.length >= answer.total;
    this.app.remember(link(["r", this.run.key], Object.fromEntries([["q", this.query], ["sort", this.sort === "worst" ? "" : this.sort]].filter(([, v]) => v))));
  }

  row(row, before) {
    const again = before && before.scenario === row.scenario && before.variant === row.variant;
    return h("tr", {class: again ? `${row.state} again` : row.state, onclick: (e) => { if (!e.target.closest("a")) location.hash = link(["s", row.id]); }}, h("td", {class: `mono tight ${levelOf(row.state)}`}, `${STATE_MARKS[row.state]} ${number(row.score)}`), h("td", {class: "name"}, row.detail ? h("a", {href: link(["s", row.id])}, visible(row.scenario || row.id)) : visible(row.scenario || row.id)),
      h("td", {class: "tight"}, visible(row.variant)), h("td", {class: "mono", "data-of": "trial"}, row.trial), h("td", {class: "cause"}, visible(row.cause || "")), h("td", {class: "tight"}, visible((row.ending || "").replaceAll("_", " "))), ["turns", "calls", "errors"].map((name) => h("td", {class: "mono", "data-of": name}, row[name])));
  }

  select(index) {
    const lines = [...this.body.rows];
    if (!lines.length) return;
    lines[this.selected]?.classList.remove("selected");
    this.selected = Math.max(0, Math.min(lines.length - 1, index));
    lines[this.selected].classList.add("selected");
    lines[this.selected].scrollIntoView({block: "nearest"});
    (lines[this.selected].querySelector("a") || lines[this.selected]).focus?.({preventScroll: true});
  }

  key(key) {
    if (key === "j" || key === "ArrowDown") this.select(this.selected + 1);
    else if (key === "k" || key === "ArrowUp") this.select(this.selected - 1);
    else if (key === "Enter" && this.rows[this.selected]) location.hash = link(["s", this.rows[this.selected].id]);
    else if (key === "/") this.input.focus();
    else if (key === "f") this.filter(this.query.trim() === "is:failed" ? "" : "is:failed");
    else return false;
    return true;
  }
}
