// Where the pages get their data: embedded in the file, from a server, or from the host of an MCP App.
// A source answers overview(), page(run, query, sort, offset), detail(id) and pairs(a, b).
"use strict";

const PAGE = 100;
const STATES = ["failed", "part", "voided", "unscored", "spoiled", "passed"];

// The filter language: words are searched for in everything that was said and done; key:value narrows a column.
const KEYS = ["scenario", "variant", "category", "tool", "ending", "state", "cause", "run", "score", "turns", "calls", "errors", "is"];
const NUMERIC = new Set(["score", "turns", "calls", "errors"]);

function parsed(query) {
  const terms = [];
  for (const token of query.match(/(?:[^\s":]+:)?"[^"]*"|\S+/g) || []) {
    const [, key, rest] = /^([a-z]+):(.*)$/s.exec(token) || [null, null, token];
    const value = rest.replace(/^"|"$/g, "");
    if (key === null) { terms.push({key: "text", value: value.toLowerCase()}); continue; }
    if (!KEYS.includes(key)) return {error: `unknown key '${key}'; known: ${KEYS.join(", ")}`};
    if (!NUMERIC.has(key)) { terms.push({key, value: value.toLowerCase()}); continue; }
    const [, operator, figure] = /^(<=|>=|<|>|=)?(-?\d+(?:\.\d+)?)$/.exec(value) || [];
    if (figure === undefined) return {error: `'${token}': expected a number, such as ${key}:<0.5`};
    terms.push({key, operator: operator || "=", value: Number(figure)});
  }
  return {terms};
}

const COMPARES = {"<": (a, b) => a < b, ">": (a, b) => a > b, "<=": (a, b) => a <= b, ">=": (a, b) => a >= b, "=": (a, b) => Math.abs(a - b) < 1e-9};

function fits(row, term, texts) {
  const {key, value} = term;
  if (NUMERIC.has(key)) return row[key] !== null && COMPARES[term.operator](row[key], value);
  if (key === "text") return texts(row).includes(value);
  if (key === "category") return row.categories.some((name) => name.toLowerCase() === value);
  if (key === "tool") return row.tools.some((name) => name.toLowerCase() === value);
  if (key === "is") return value === "flaky" ? row.flaky : row.state === value || (value === "failed" && ["failed", "part", "voided"].includes(row.state));
  if (key === "cause") return row.cause_group.toLowerCase().includes(value);
  return String(row[key] ?? "").toLowerCase().includes(value);
}

const ORDERS = {
  worst: (a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state) || (a.score ?? 2) - (b.score ?? 2) || (a.id < b.id ? -1 : 1),
  score: (a, b) => (a.score ?? -1) - (b.score ?? -1), scenario: (a, b) => (a.id < b.id ? -1 : 1),
  turns: (a, b) => b.turns - a.turns, calls: (a, b) => b.calls - a.calls, errors: (a, b) => b.errors - a.errors,
};

class EmbeddedSource {
  constructor(data) { this.data = data; this.texts = new Map(); }
  static async open(element) {
    const bytes = Uint8Array.from(atob(element.textContent.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new EmbeddedSource(JSON.parse(await new Response(stream).text()));
  }
  get live() { return false; }
  async overview() { return this.data.overview; }
  text(row) {
    if (!this.texts.has(row.id)) {
      const detail = this.data.details[row.id];
      this.texts.set(row.id, (JSON.stringify(row) + (detail ? JSON.stringify(detail.log.slice(1)) : "")).toLowerCase());
    }
    return this.texts.get(row.id);
  }
  async page(run, query, sort, offset, limit = PAGE) {
    const {terms, error} = parsed(query);
    if (error) return {error};
    const rows = this.data.rows.filter((row) => row.run === run && terms.every((term) => fits(row, term, (r) => this.text(r))));
    rows.sort(ORDERS[sort] || ORDERS.worst);
    return {rows: rows.slice(offset, offset + limit), total: rows.length};
  }
  async grid(run) { return this.data.rows.filter((row) => row.run === run); }
  async detail(id) { return this.data.details[id] || null; }
  async pairs(a, b) { return (this.data.comparisons || {})[`${a}/${b}`] || null; }
}

class ServerSource {
  get live() { return true; }
  async get(path, parameters = {}) {
    const answer = await fetch("api/" + path + "?" + new URLSearchParams(parameters));
    if (answer.status === 404) return null;
    if (!answer.ok && answer.status !== 400) throw new Error(`the server answered ${answer.status}`);
    return answer.json();
  }
  overview() { return this.get("overview"); }
  page(run, query, sort, offset, limit = PAGE) { return this.get("sessions", {run, query, sort, offset, limit}); }
  async grid(run) { return (await this.get("grid", {run})).rows; }
  detail(id) { return this.get("session", {id}); }
  pairs(a, b) { return this.get("compare", {a, b}); }
}
