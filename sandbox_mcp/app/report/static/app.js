// Which page is shown, the keys, the theme, and following a run that is going on.
"use strict";

const HELP = [["j k ↓ ↑", "next, previous row or event"], ["n p", "next, previous problem"], ["m", "next milestone"], ["1-9", "reason by number"], ["] [", "next, previous session of the list"], ["Enter Esc", "open, back"], ["/", "search"],
  ["f", "failed only"], ["s", "next tab of the state"], ["x", "unfold the event"], ["c", "copy a link to this place"], ["t", "light, dark"], ["?", "these keys"]];

class App {
  constructor(source, place) {
    Object.assign(this, {source, place});
    this.sequence = [];
    this.back = "#/";
    this.page = null;
    this.help = h("dialog", {"aria-label": "Keys"}, h("h2", {}, "Keys"), h("dl", {class: "keys"}, HELP.map(([keys, what]) => [h("dt", {class: "mono"}, keys), h("dd", {}, what)])), h("form", {method: "dialog"}, h("button", {}, "Close")));
    this.said = h("p", {class: "sr", role: "status"});
    addEventListener("hashchange", () => this.show());
    addEventListener("keydown", (event) => this.key(event));
  }

  async start() {
    document.body.append(this.help, this.said);
    await this.show();
    if (this.source.live) this.follow();
  }

  remember(hash) {
    if (location.hash !== hash) this.rename(hash);
    this.back = hash;
  }

  // The address of the page; in a host's frame a page has none that may be changed.
  rename(hash) { if (!this.source.framed) history.replaceState(null, "", hash); }

  async show() {
    const [path, query] = (this.source.framed ? this.source.place : location.hash).replace(/^#\/?/, "").split("?");
    const [kind, ...names] = path.split("/").map(decodeURIComponent);
    const parameters = new URLSearchParams(query || "");
    const asked = this.asking = Symbol("asked");
    const overview = this.overview = await this.source.overview();
    const only = overview.runs.length === 1 ? overview.runs[0] : null;
    if (!kind && !location.hash && !this.source.framed && await this.opening(overview, asked)) { this.foot(overview); return; }
    if (this.asking !== asked) return;
    const run = kind === "r" ? overview.runs.find((item) => item.key === names[0]) : kind ? null : only;
    if (this.asking !== asked) return;
    document.title = overview.title;
    scrollTo(0, 0);
    try {
      if (kind === "s") await this.showSession(names[0], parameters, asked);
      else if (kind === "pair") { const both = await Promise.all(names.slice(0, 2).map((id) => this.source.detail(id))); this.page = both.every(Boolean) ? new PairPage(this, both[0], both[1], this.place) : this.missing("One of these sessions is not in this report."); }
      else if (kind === "compare") { const found = await this.source.pairs(names[0], names[1]); this.page = found ? new ComparePage(this, overview, found, this.place) : this.missing("These two runs are not compared here."); }
      else if (run) this.page = new RunPage(this, overview, run, this.place, parameters);
      else if (kind) this.missing("There is no such page.");
      else this.page = new RunsPage(this, overview, this.place);
    } catch (error) { this.missing(`This could not be shown: ${error.message}`); }
    this.foot(overview);
  }

  // What is opened without an address: a lone session itself, and of two runs their difference. "#/" is the list.
  async opening(overview, asked) {
    const [one, two, third] = overview.runs;
    if (one && !two && one.counts.sessions === 1) {
      const {rows} = await this.source.page(one.key, "", "worst", 0);
      if (rows.length !== 1 || !rows[0].detail || this.asking !== asked) return false;
      await this.showSession(rows[0].id, new URLSearchParams(), asked);
    } else if (two && !third) {
      const found = await this.source.pairs(one.key, two.key);
      if (!found?.difference || this.asking !== asked) return false;
      this.page = new ComparePage(this, overview, found, this.place);
    } else return false;
    document.title = overview.title;
    return true;
  }

  foot(overview) {
    this.place.append(h("footer", {class: "dim"}, h("button", {type: "button", onclick: () => this.help.showModal()}, "Keys ?"), " ", foreign(overview.foot)));
  }

  async showSession(id, parameters, asked) {
    const detail = await this.source.detail(id);
    if (this.asking !== asked) return;
    if (!detail) { this.missing("This session is not in this report; the list says what is known of it."); return; }
    const page = this.page = new SessionPage(detail, this.place);
    const bar = this.source.framed ? null : h("nav", {class: "crumbs"}, h("a", {href: this.back}, "← Sessions"), h("span", {class: "dim"}, " ] and [ go on in the list, ? lists the keys"));
    if (bar) this.place.prepend(bar);
    const milestone = detail.milestones.find((item) => item.id === parameters.get("m"));
    const seq = milestone ? milestone.seq ?? milestone.reasons.find((reason) => reason.seq !== null)?.seq : Number(parameters.get("e"));
    page.go(page.bySeq.has(seq) ? page.bySeq.get(seq) : page.first());
    byId(`milestone-${parameters.get("m")}`)?.classList.add("pointed");
    page.onmove = (at) => this.rename(link(["s", id], {e: at}));
  }

  missing(text) {
    this.page = null;
    this.place.replaceChildren(h("main", {class: "page"}, h("h1", {}, "Not here"), h("p", {}, text), h("a", {href: "#/"}, "Back to the start")));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.help.open) return;
    const typing = event.target.closest("input[type=search], textarea, select");
    if (event.key === "Escape") { if (typing) typing.blur(); else if (/^#\/(s|pair|compare)/.test(location.hash)) location.hash = this.back; return; }
    if (typing || (event.key === "Enter" && event.target.closest("button, a, summary"))) return;
    if (event.target.matches?.("input[type=range]") && /^(Arrow|Home|End)/.test(event.key)) return;
    const handled = this.global(event.key) || this.page?.key?.(event.key);
    if (handled) event.preventDefault();
  }

  global(key) {
    if (key === "?") this.help.showModal();
    else if (key === "t") this.theme();
    else if (key === "c") copied(location.href).then((done) => { this.said.textContent = done ? "Link copied." : "The address bar has the link."; });
    else if ((key === "]" || key === "[") && this.page instanceof SessionPage) {
      const next = this.sequence[this.sequence.indexOf(this.page.detail.id) + (key === "]" ? 1 : -1)];
      if (next) location.hash = link(["s", next]);
    } else return false;
    return true;
  }

  theme() {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  }

  // New sessions are counted in the score, and listed when asked for: what lies under the pointer never moves by itself.
  async follow() {
    const notice = h("button", {type: "button", class: "news", hidden: true, onclick: () => { notice.hidden = true; this.show(); }});
    document.body.append(notice);
    const size = (overview) => overview.runs.reduce((sum, run) => sum + run.counts.sessions, 0);
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      let overview;
      try { overview = await this.source.overview(); } catch { notice.textContent = "The server has stopped."; notice.hidden = false; return; }
      const news = size(overview) - size(this.overview);
      if (news > 0) { notice.textContent = `${count(news, "new session")}: show`; notice.hidden = false; }
      this.page?.live?.(overview);
      if (overview.runs.length !== this.overview.runs.length && /^#?\/?$/.test(location.hash)) this.show();
    }
  }
}

(async () => {
  const place = byId("app");
  const data = byId("data");
  try {
    const source = data.dataset.kind === "embedded" ? await EmbeddedSource.open(data) : data.dataset.kind === "server" ? new ServerSource() : await HostSource.open();
    await new App(source, place).start();
    document.documentElement.dataset.ready = "yes";
  } catch (error) { place.replaceChildren(h("p", {class: "bad"}, `This page could not be shown: ${error.message}`)); }
})();
