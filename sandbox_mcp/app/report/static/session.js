// One session: what was said and done, beside the milestones and the state of the world, step by step.
"use strict";

const LANES = {user: 0, agent: 1, environment: 2, system: 2};
const LANE_X = [20, 66, 112];
const LANE_CLASS = ["user", "agent", "world"];
const NOWHERE = -1;

class SessionPage {
  constructor(detail, place) {
    this.detail = detail;
    this.started = detail.log[0];
    this.events = detail.log.slice(1);
    this.names = new Map(Object.entries(detail.labels));
    this.bySeq = new Map(this.events.map((event, index) => [event.seq, index]));
    this.tab = "changed";
    this.state = structuredClone(this.started.world || {});
    this.applied = NOWHERE;
    this.cursor = NOWHERE;
    this.onmove = () => {};
    this.tags = this.tagged();
    place.replaceChildren(h("main", {}, this.header(), this.scrubber(), h("div", {class: "columns"}, this.conversation(), this.side())));
    this.place = place;
  }

  // ---- what is said of events

  tagged() {
    const tags = new Map();
    const add = (seq, tag) => { if (seq !== null && seq !== undefined) tags.set(seq, [...(tags.get(seq) || []), tag]); };
    for (const m of this.detail.milestones) add(m.seq, {kind: kindOf(m), text: `${markOf(m)} ${m.id}`, why: m.reasons[0]?.text, milestone: m.id});
    for (const u of this.detail.unwanted) add(u.seq, {kind: u.remains ? "warn" : "bad", text: "✗ unwanted change", why: u.text});
    for (const u of this.detail.untrue) add(u.seq, {kind: "bad", text: "✗ untrue", why: u.text});
    for (const m of this.detail.minefields) if (m.met) add(m.seq, {kind: "bad", text: `✗ minefield ${m.id}`, why: m.about});
    for (const c of this.detail.conduct) add(c.event, {kind: "warn", text: c.count.replaceAll("_", " "), why: c.about});
    return tags;
  }

  // ---- header

  header() {
    const d = this.detail;
    const facts = [d.variant, `seed ${d.seed}`, `trial ${d.trial}`].join(" · ");
    const beside = [d.floor === null ? null : `refusing earns ${number(d.floor)}`, count(d.turns, "turn"), `ended: ${(d.ending || "cut off").replaceAll("_", " ")}`];
    const brief = d.brief && h("details", {class: "brief"}, h("summary", {}, "What the user was told"),
      h("dl", {}, Object.entries(d.brief).map(([name, lines]) => [h("dt", {}, name), h("dd", {}, [lines].flat().map((line) => h("div", {}, foreign(line))))])));
    const causes = d.causes.map((cause, index) => h("li", {}, this.jump(cause.seq, index < 9 ? `cause ${index + 1}` : ""),
      h("b", {class: cause.level}, `${cause.kind} `), this.readable(cause.text), cause.undone ? [", undone at ", this.jump(cause.undone)] : ""));
    const shown = causes.slice(0, causes.length > 4 ? 3 : 4);
    const list = h("ul", {class: "causes"}, shown);
    if (causes.length > shown.length) {
      const more = h("button", {type: "button", onclick: () => { list.append(...causes.slice(shown.length)); more.remove(); }}, `${causes.length - shown.length} more reasons`);
      list.append(h("li", {}, more));
    }
    return h("header", {class: "session-head"},
      h("div", {class: "row"}, h("span", {class: `score ${levelOf(d.state)}`}, number(d.score)), h("h1", {}, foreign(d.scenario || d.id)), h("span", {}, facts),
        h("b", {class: levelOf(d.state)}, d.verdict), h("span", {class: "dim"}, beside.filter(Boolean).join(" · "))),
      d.goal && h("p", {class: "goal"}, h("span", {class: "dim"}, "Task for the user: "), foreign(d.goal)), brief, causes.length ? list : "");
  }

  jump(seq, label = "") {
    const index = this.bySeq.get(seq);
    if (index === undefined) return h("span", {class: "mono dim nowhere"}, "–");
    return h("button", {type: "button", class: "mono jump", "aria-label": `${label} event ${seq}`.trim(), onclick: (e) => { e.stopPropagation(); this.go(index, true); }}, `#${seq}`);
  }

  readable(text) {
    return visible(String(text).replace(/'?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})'?/g, (_, id) => this.names.get(id) || id.slice(0, 8) + "…"));
  }

  // ---- scrubber

  scrubber() {
    const last = this.events.length - 1;
    this.range = h("input", {type: "range", min: 0, max: Math.max(0, last), "aria-label": "event", oninput: (e) => this.go(Number(e.target.value))});
    this.position = h("span", {class: "mono", id: "position"});
    const marks = svg("svg", {class: "marks", "aria-hidden": "true", preserveAspectRatio: "none", viewBox: "0 0 1000 10"});
    this.track = h("div", {class: "track"}, this.range, marks);
    const bins = new Map();
    this.events.forEach((event, index) => {
      const mark = this.markOf(event);
      if (!mark) return;
      const x = last ? index / last : 0;
      const bin = this.events.length > 200 ? Math.round(x * 100) : index;
      const before = bins.get(bin);
      if (!before || MARK_ORDER.indexOf(mark[0]) < MARK_ORDER.indexOf(before.mark[0])) bins.set(bin, {x, mark});
    });
    for (const {x, mark} of bins.values()) marks.append(svg("rect", {x: x * 992, y: MARK_ORDER.indexOf(mark[0]) > 2 ? 5 : 0, width: 8, height: MARK_ORDER.indexOf(mark[0]) > 2 ? 5 : 10, class: `mark ${mark[0]}`}));
    return h("div", {class: "scrub"}, h("button", {type: "button", "aria-label": "previous event", onclick: () => this.go(this.cursor - 1)}, "‹"), this.track,
      h("button", {type: "button", "aria-label": "next event", onclick: () => this.go(this.cursor + 1)}, "›"), this.position);
  }

  markOf(event) {
    const levels = (this.tags.get(event.seq) || []).map((tag) => tag.kind);
    for (const level of ["bad", "warn", "ok"]) if (levels.includes(level)) return [level];
    if (event.error) return ["bad"];
    if ((event.changes || []).length) return ["change"];
    return event.event === "message" && event.sender !== "system" ? ["said"] : null;
  }

  // ---- conversation

  conversation() {
    const head = h("div", {class: "event lanes-head", "aria-hidden": "true"}, h("span"), h("span", {class: "gutter"}, ["User", "Agent", "World"].map((name, i) => h("span", {class: `lane-name lane-${i}`}, name))), h("span"));
    const sizes = new Map();
    for (const event of this.events) if (event.batch) sizes.set(event.batch, (sizes.get(event.batch) || 0) + 1);
    this.rows = this.events.map((event, index) => this.row(event, index, sizes));
    const list = h("div", {class: "events", role: "grid", "aria-label": "conversation", tabindex: "0"});
    let before = null;
    const step = this.started.clock?.step ?? 1;
    this.rows.forEach((row, index) => {
      const event = this.events[index];
      if (before && event.clock - before.clock > step * 1.5 + 1) list.append(h("div", {class: "gap dim", role: "row"}, h("span", {role: "gridcell"}, `${duration(event.clock - before.clock)} pass`)));
      list.append(row);
      before = event;
    });
    this.list = list;
    return h("section", {class: "conversation", "aria-label": "What happened"}, head, list);
  }

  row(event, index, sizes) {
    const together = event.batch && sizes.get(event.batch) > 1;
    const tags = (this.tags.get(event.seq) || []).map((tag) => h("span", {class: `tag ${tag.kind}`, title: tag.why}, tag.text));
    const words = this.words(event);
    return h("div", {class: `event${together ? " together" : ""}${event.error ? " failed" : ""}`, role: "row", id: `event-${event.seq}`, onclick: () => this.go(index)},
      h("span", {class: "seq mono dim", role: "gridcell"}, `#${event.seq}`), h("div", {class: "gutter", "data-way": words, "aria-hidden": "true"}, this.arrow(event)),
      h("div", {class: "body", role: "gridcell"}, h("span", {class: "sr"}, words + ". "), this.body(event), together ? h("span", {class: "sr"}, " sent together with others") : "", tags.length ? h("div", {class: "tags"}, tags) : ""));
  }

  words(event) {
    if (event.event === "tool_call") return `${event.caller} → world`;
    return event.event === "message" ? `${event.sender} → ${event.recipient}` : "end";
  }

  arrow(event) {
    const lines = LANE_X.map((x) => svg("line", {x1: x, x2: x, y1: 0, y2: "100%", class: "lane"}));
    const [from, to] = event.event === "tool_call" ? [LANES[event.caller], 2] : event.event === "message" && event.sender !== "system" ? [LANES[event.sender], LANES[event.recipient]] : [null, null];
    if (from === null || from === to) return svg("svg", {class: "arrows", "aria-hidden": "true"}, lines);
    const [a, b] = [LANE_X[from], LANE_X[to]];
    const way = a < b ? 1 : -1;
    const look = event.error ? "bad" : LANE_CLASS[from];
    return svg("svg", {class: "arrows", "aria-hidden": "true"}, lines, svg("circle", {cx: a, cy: 15, r: 4, class: `dot ${look}`}),
      svg("line", {x1: a, x2: b - way * 6, y1: 15, y2: 15, class: `way ${look}`}), svg("path", {d: `M${b - way * 8} 10l${way * 7} 5l${-way * 7} 5z`, class: `dot ${look}`}));
  }

  body(event) {
    if (event.event === "end") return h("span", {class: "dim"}, `ended: ${event.reason.replaceAll("_", " ")}`, event.detail ? [" – ", foreign(event.detail)] : "");
    if (event.event === "message") {
      if (event.sender === "system") return h("details", {}, h("summary", {}, `instructions to the ${event.recipient}`), foreign(event.content));
      return h("span", {}, h("span", {class: `who ${LANE_CLASS[LANES[event.sender]]}`}, event.sender + " "), foreign(event.content));
    }
    const given = Object.entries(event.arguments || {}).flatMap(([name, value], i) => [i ? ", " : "", h("span", {class: "dim"}, visible(name), "="), this.value(value, name)]);
    const called = h("span", {class: "mono"}, h("b", {class: "world"}, visible(event.name)), "(", event.raw_arguments ? foreign(event.raw_arguments) : given, ")",
      event.tool && event.tool !== event.name ? h("span", {class: "dim"}, ` is ${event.tool}`) : "");
    return h("span", {}, called, this.outcome(event), (event.changes || []).map((change) => this.change(change)));
  }

  outcome(event) {
    if (event.error) return h("span", {class: "line mono bad"}, `✗ ${event.error.type}: `, foreign(event.error.message));
    const {result} = event;
    if (result === null || result === undefined || (event.changes || []).some((change) => change.key === result)) return "";
    const text = JSON.stringify(result);
    if (text.length <= 90) return h("span", {class: "line mono dim"}, "→ ", this.value(result, ""));
    const summary = Array.isArray(result) ? count(result.length, "row") : typeof result === "object"
      ? Object.entries(result).filter(([, v]) => v === null || typeof v !== "object").slice(0, 4).map(([k, v]) => `${k} ${v}`).join(", ").slice(0, 80) + "…" : text.slice(0, 80) + "…";
    const fold = h("details", {}, h("summary", {class: "mono"}, "→ ", visible(summary)));
    fold.addEventListener("toggle", () => { if (fold.open && fold.children.length === 1) fold.append(h("pre", {class: "mono"}, foreign(JSON.stringify(result, null, 1)))); });
    return fold;
  }

  change({table, before, after}) {
    const what = !before ? h("ins", {}, "+ 1 row ", this.label(after)) : !after ? h("del", {}, "− 1 row ", this.label(before))
      : changedCells(before, after).map((name) => [`${name} `, h("del", {}, this.value(before[name], name)), " → ", h("ins", {}, this.value(after[name], name)), " "]);
    return h("span", {class: "line mono"}, h("span", {class: "dim"}, visible(table), " "), what);
  }

  label(row) {
    const cell = Object.entries(row).find(([name, value]) => /name|title|label|content|subject/.test(name) && typeof value === "string");
    return cell ? visible(cell[1].slice(0, 60)) : "";
  }

  value(value, column) {
    if (value === null || value === undefined) return h("span", {class: "dim"}, "–");
    if (typeof value === "number" && /timestamp|_at$|due/.test(column) && value > 1e8) return this.moment(value);
    const name = typeof value === "string" ? this.names.get(value) : undefined;
    if (name) return /^\+/.test(value) ? h("span", {}, visible(value), h("span", {class: "dim"}, " ", visible(name))) : h("span", {title: value}, visible(name));
    return foreign(typeof value === "string" ? value : JSON.stringify(value));
  }

  moment(seconds) {
    const options = {timeZone: this.started.clock?.zone || "UTC", day: "2-digit", month: "short", hour: "2-digit", minute: "2-digit"};
    try { return new Date(seconds * 1000).toLocaleString("en-GB", options); } catch { return new Date(seconds * 1000).toISOString(); }
  }

  // ---- milestones and state

  side() {
    this.graph = this.milestones();
    this.tabs = h("span", {class: "tabs"}, [["changed", "Changed since start"], ["event", "This event"], ["all", "All tables"]].map(([key, label]) =>
      pressed(label, key === this.tab, () => { this.tab = key; this.showState(); }, {"data-tab": key})));
    this.tables = h("div", {class: "tables"});
    const families = Object.entries(this.detail.metrics).filter(([name]) => name !== "toolsandbox");
    return h("section", {class: "side", "aria-label": "Milestones and state"}, h("h2", {}, "Milestones"), this.graph, this.aligned(), this.mines(),
      h("h2", {class: "row"}, "State ", this.tabs), this.tables,
      h("details", {class: "families"}, h("summary", {}, "Other metrics"), families.map(([name, values]) => h("div", {}, h("h3", {}, name.replaceAll("_", " ")), figures(values)))));
  }

  // What each constraint was held against: expected, found, how well, and which events did and undid it.
  aligned() {
    const rows = this.detail.milestones.flatMap((m) => (m.constraints || []).map((c) => [m, c]));
    if (!rows.length) return "";
    const told = (value) => Array.isArray(value) ? value.map(told).join(" or ") : value !== null && typeof value === "object"
      ? Object.entries(value).filter(([name]) => !/^(measure|table|change|sender|recipient)$/.test(name)).map(([name, inner]) => /^(value|any_of|all_of|rows)$/.test(name) ? told(inner) : `${name.replaceAll("_", " ")} ${told(inner)}`).join(", ") : String(value);
    return h("details", {class: "alignment"}, h("summary", {}, "Expected and found"), h("div", {class: "wide"}, h("table", {}, h("thead", {}, h("tr", {}, ["milestone", "how well", "expected", "found", "by", "undone by"].map((name) => h("th", {scope: "col"}, name)))),
      h("tbody", {}, rows.map(([m, c]) => h("tr", {}, h("td", {}, h("b", {}, visible(m.id)), h("div", {class: "dim"}, visible(c.constraint))), h("td", {class: `mono ${kindOf({effective: c.similarity})}`}, number(c.similarity)),
        h("td", {}, this.readable(told(c.expected))), h("td", {}, c.found ? this.readable(told(c.found)) : h("span", {class: "dim"}, "nothing")), h("td", {}, this.jump(c.caused_by)), h("td", {}, c.undone_by === null ? "" : this.jump(c.undone_by))))))));
  }

  mines() {
    const mines = this.detail.minefields;
    if (!mines.length) return "";
    return h("ul", {class: "mines"}, mines.map((mine) => h("li", {class: mine.met ? "bad" : "dim"}, mine.met ? ["✗ minefield ", h("b", {}, mine.id), " met ", this.jump(mine.seq)] : `○ minefield ${mine.id}, not met`, mine.about ? [": ", visible(mine.about)] : "")));
  }

  milestones() {
    const items = this.detail.milestones;
    if (!items.length) return h("p", {class: "dim"}, this.detail.no_milestones || "Nothing is known of what was asked of this session, so there are no milestones.");
    const {order, column, depth} = laidOut(items);
    const [height, gap] = [52, 18];
    const position = new Map(order.map((item, index) => [item.id, index]));
    const width = depth * gap + 24;
    const picture = svg("svg", {width, height: order.length * height, class: "graph", "aria-hidden": "true"});
    for (const item of order) for (const before of item.after) {
      const [x1, y1, x2, y2] = [12 + column.get(before) * gap, position.get(before) * height + 18, 12 + column.get(item.id) * gap, position.get(item.id) * height + 18];
      picture.append(svg("path", {class: "edge", d: x1 === x2 ? `M${x1} ${y1}V${y2}` : `M${x1} ${y1}V${y2 - 20}C${x1} ${y2 - 8} ${x2} ${y2 - 16} ${x2} ${y2}`}));
    }
    this.nodes = new Map();
    const rows = order.map((item, index) => {
      const circle = svg("circle", {cx: 12 + column.get(item.id) * gap, cy: index * height + 18, r: 7});
      const symbol = svg("text", {x: 12 + column.get(item.id) * gap, y: index * height + 22, "text-anchor": "middle", class: "symbol"});
      picture.append(circle, symbol);
      const title = h("b", {}, visible(item.id));
      const said = h("span", {class: "sr"});
      const reason = item.effective < 1 && item.reasons[0] ? item.reasons.map((r) => r.text).join("; ") : item.about;
      const row = h("li", {id: `milestone-${item.id}`, class: "milestone"}, h("div", {}, title, said, " ", item.seq !== null ? this.jump(item.seq, `milestone ${item.id},`) : item.reasons[0]?.seq ? this.jump(item.reasons[0].seq, `nearest to ${item.id},`) : "", " ",
        item.effective > 0 && item.effective < 1 ? h("span", {class: "warn"}, number(item.effective), " ") : "", item.after.length ? h("span", {class: "dim"}, "after " + item.after.join(", ")) : ""),
        h("div", {class: "dim reason", title: reason}, reason ? this.readable(reason) : ""));
      this.nodes.set(item.id, {item, circle, symbol, title, said});
      return row;
    });
    return h("div", {class: "dag"}, picture, h("ol", {class: "milestones"}, rows));
  }

  showMilestones(seq, atEnd) {
    for (const {item, circle, symbol, title, said} of (this.nodes || new Map()).values()) {
      const reached = item.seq !== null && item.seq <= seq && item.effective > 0;
      const missed = item.effective < 1 && !reached && (atEnd || (item.seq ?? item.reasons[0]?.seq ?? Infinity) <= seq);
      const look = reached ? (item.effective >= 1 ? "ok" : "warn") : missed ? "bad" : "open";
      circle.setAttribute("class", `node ${look}`);
      symbol.textContent = {ok: "✓", warn: "◐", bad: "✗", open: ""}[look];
      title.className = look === "open" ? "" : look;
      said.textContent = {ok: ", met", warn: ", met in part", bad: ", not met", open: ", not yet"}[look];
    }
  }

  moveTo(index) {
    const put = ({table, key}, row) => { if (row === null || row === undefined) delete (this.state[table] ?? {})[key]; else (this.state[table] ??= {})[key] = row; };
    while (this.applied < index) for (const change of this.events[++this.applied].changes || []) put(change, change.after);
    while (this.applied > index) for (const change of [...(this.events[this.applied--].changes || [])].reverse()) put(change, change.before);
  }

  showState() {
    for (const button of this.tabs.children) button.setAttribute("aria-pressed", String(button.dataset.tab === this.tab));
    if (!this.started.world) { this.tables.replaceChildren(h("p", {class: "dim"}, "The log records no state.")); return; }
    const touched = this.events[this.cursor]?.changes || [];
    const names = [...new Set([...Object.keys(this.started.world), ...Object.keys(this.state)])];
    const shown = names.map((name) => this.table(name, touched)).filter(Boolean);
    const nothing = {changed: "Nothing has changed up to here.", event: "This event changed nothing.", all: "There are no tables."}[this.tab];
    this.tables.replaceChildren(...(shown.length ? shown : [h("p", {class: "dim"}, nothing)]));
  }

  table(name, touched) {
    const [start, now] = [this.started.world[name] || {}, this.state[name] || {}];
    const here = new Map(touched.filter((change) => change.table === name).map((change) => [change.key, change]));
    const keys = [...new Set([...Object.keys(start), ...Object.keys(now)])].filter((key) => this.tab === "all" || (this.tab === "event" ? here.has(key) : !same(start[key], now[key])));
    if (!keys.length) return null;
    const rows = keys.slice(0, 200);
    const before = (key) => this.tab === "event" ? here.get(key).before ?? undefined : start[key];
    const idColumn = Object.keys(now[rows[0]] || before(rows[0]) || {})[0];
    const columns = [...new Set(rows.flatMap((key) => Object.keys(now[key] || before(key) || {})))].filter((column) => column !== idColumn)
      .filter((column) => this.tab === "all" || /name|content|title|subject|label/.test(column) || rows.some((key) => !before(key) || !now[key] || !same(before(key)[column], now[key][column])));
    return h("table", {}, h("caption", {}, h("b", {class: "mono"}, visible(name)), h("span", {class: "dim"}, ` ${Object.keys(start).length} → ${count(Object.keys(now).length, "row")}`)),
      h("thead", {}, h("tr", {}, columns.map((column) => h("th", {scope: "col"}, visible(column.replaceAll("_", " ")))))),
      h("tbody", {}, rows.map((key) => {
        const [old, row] = [before(key), now[key]];
        const look = !old ? "added" : !row ? "removed" : "";
        return h("tr", {class: `${look}${here.has(key) ? " now" : ""}`}, columns.map((column, i) => h("td", {class: /timestamp/.test(column) ? "moment" : null},
          i === 0 && look ? h("span", {class: "sr"}, look + " row: ") : "",
          old && row && !same(old[column], row[column]) ? [h("del", {}, h("span", {class: "sr"}, "was "), this.value(old[column], column)), " → ", h("ins", {}, this.value(row[column], column))] : this.value((row || old)[column], column))));
      })), keys.length > rows.length ? h("tfoot", {}, h("tr", {}, h("td", {colspan: columns.length}, `${count(keys.length - rows.length, "more row")}`))) : "");
  }

  // ---- moving

  go(index, focus = false) {
    const next = Math.max(0, Math.min(this.events.length - 1, index));
    if (!this.events.length) return;
    const old = this.cursor;
    this.cursor = next;
    const event = this.events[next];
    this.rows[old]?.removeAttribute("aria-selected");
    if (old === NOWHERE) this.rows.forEach((row, i) => row.classList.toggle("later", i > next));
    else for (let i = Math.min(old, next); i <= Math.max(old, next); i++) this.rows[i].classList.toggle("later", i > next);
    this.rows[next].setAttribute("aria-selected", "true");
    this.list.setAttribute("aria-activedescendant", `event-${event.seq}`);
    this.reveal(this.rows[next]);
    if (focus) this.list.focus({preventScroll: true});
    this.range.value = next;
    this.range.setAttribute("aria-valuetext", `event ${event.seq}`);
    this.position.textContent = `#${event.seq}/${this.events[this.events.length - 1].seq}`;
    this.moveTo(next);
    this.showMilestones(event.seq, next === this.events.length - 1);
    this.showState();
    this.onmove(event.seq);
  }

  // Scrolls the list that the row is in; the page itself only where the list has no scrolling of its own.
  reveal(row) {
    const box = this.list.parentElement;
    if (getComputedStyle(box).overflowY !== "auto") { row.scrollIntoView({block: "nearest"}); return; }
    const [inner, outer] = [row.getBoundingClientRect(), box.getBoundingClientRect()];
    if (inner.top < outer.top + 24) box.scrollTop += inner.top - outer.top - 24;
    else if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom + 8;
  }

  problems() {
    const seqs = new Set([...this.detail.causes.map((cause) => cause.seq), ...this.events.filter((event) => event.error).map((event) => event.seq)]);
    return this.events.map((event, index) => index).filter((index) => seqs.has(this.events[index].seq));
  }

  milestonesMet() { return this.events.map((_, index) => index).filter((index) => (this.tags.get(this.events[index].seq) || []).some((tag) => tag.milestone)); }

  first() {
    const voiding = this.detail.causes.find((cause) => cause.voids && this.bySeq.has(cause.seq));
    const cause = voiding || this.detail.causes.find((item) => this.bySeq.has(item.seq));
    return this.detail.state === "passed" || !cause ? this.events.length - 1 : this.bySeq.get(cause.seq);
  }

  key(key) {
    const after = (list) => list.find((index) => index > this.cursor);
    const before = (list) => list.findLast((index) => index < this.cursor);
    const moves = {ArrowDown: 1, ArrowRight: 1, j: 1, ArrowUp: -1, ArrowLeft: -1, k: -1};
    if (key in moves) this.go(this.cursor + moves[key]);
    else if (key === "Home") this.go(0);
    else if (key === "End") this.go(this.events.length - 1);
    else if (key === "n") this.go(after(this.problems()) ?? this.cursor);
    else if (key === "p") this.go(before(this.problems()) ?? this.cursor);
    else if (key === "m") this.go(after(this.milestonesMet()) ?? this.milestonesMet()[0] ?? this.cursor);
    else if (key === "s") { const order = ["changed", "event", "all"]; this.tab = order[(order.indexOf(this.tab) + 1) % 3]; this.showState(); }
    else if (key === "x") for (const fold of this.rows[this.cursor].querySelectorAll("details")) fold.open = !fold.open;
    else if (/^[1-9]$/.test(key)) { const cause = this.detail.causes[Number(key) - 1]; if (cause && this.bySeq.has(cause.seq)) this.go(this.bySeq.get(cause.seq)); }
    else return false;
    return true;
  }
}

const MARK_ORDER = ["bad", "warn", "ok", "change", "said"];
const kindOf = (m) => m.effective >= 1 ? "ok" : m.effective > 0 ? "warn" : "bad";
const markOf = (m) => m.effective >= 1 ? "✓" : m.effective > 0 ? "◐" : "✗";
const levelOf = (state) => ({passed: "ok", part: "warn", failed: "bad", voided: "bad"}[state] || "dim");
const changedCells = (before, after) => [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => !same(before[name], after[name]));

function figures(values) {
  const plain = Object.entries(values).filter(([, value]) => value === null || typeof value !== "object");
  return h("dl", {class: "figures"}, plain.map(([name, value]) => [h("dt", {}, visible(name.replaceAll("_", " "))), h("dd", {class: "mono"}, typeof value === "number" ? String(Math.round(value * 1000) / 1000) : visible(String(value)))]));
}

// Milestones in the manner of `git log --graph`: a node keeps a parent's column if that is free, else takes the next free one.
function laidOut(items) {
  const known = new Map(items.map((item) => [item.id, item]));
  const level = new Map();
  const levelOfItem = (item) => {
    if (!level.has(item.id)) { level.set(item.id, 0); level.set(item.id, 1 + Math.max(-1, ...item.after.filter((id) => known.has(id)).map((id) => levelOfItem(known.get(id))))); }
    return level.get(item.id);
  };
  items.forEach(levelOfItem);
  const order = [...items].sort((a, b) => level.get(a.id) - level.get(b.id) || (a.seq ?? 1e9) - (b.seq ?? 1e9));
  const position = new Map(order.map((item, index) => [item.id, index]));
  const [column, busy] = [new Map(), []];
  order.forEach((item, index) => {
    const parents = item.after.map((id) => column.get(id)).filter((c) => c !== undefined && (busy[c] ?? -1) <= index).sort();
    let chosen = parents[0];
    if (chosen === undefined) { chosen = 0; while ((busy[chosen] ?? -1) > index) chosen++; }
    column.set(item.id, chosen);
    busy[chosen] = Math.max(index + 1, ...order.filter((later) => later.after.includes(item.id)).map((later) => position.get(later.id)));
  });
  return {order: order.map((item) => ({...item, after: item.after.filter((id) => known.has(id))})), column, depth: Math.max(0, ...column.values())};
}
