// An MCP App: the host of a chat shows this page in a frame and hands it the session by messages.
"use strict";

class HostSource {
  constructor(detail) { this.detailOf = detail; }
  get live() { return false; }
  get framed() { return true; }
  get place() { return "#/s/" + encodeURIComponent(this.detailOf.id); }
  static open() {
    return new Promise((resolve, reject) => {
      let id = 0;
      const send = (message) => parent.postMessage({jsonrpc: "2.0", ...message}, "*");
      const started = ++id;
      addEventListener("message", (event) => {
        if (event.source !== parent || event.data?.jsonrpc !== "2.0") return;
        const {method, params, result} = event.data;
        if (event.data.id === started && result) { send({method: "ui/notifications/initialized"}); HostSource.context(result.hostContext); }
        else if (method === "ui/notifications/tool-result") { const page = params?._meta?.["sandbox-mcp/page"]; if (page?.problem) reject(new Error(page.problem)); else if (page) resolve(new HostSource(page)); else reject(new Error("there is no session to show")); }
        else if (method === "ui/notifications/host-context-changed") HostSource.context(params);
        else if (method === "ui/resource-teardown") send({id: event.data.id, result: {}});
      });
      new ResizeObserver(() => send({method: "ui/notifications/size-changed", params: {width: document.documentElement.scrollWidth, height: document.documentElement.scrollHeight}})).observe(document.body);
      send({id: started, method: "ui/initialize", params: {appInfo: {name: "sandbox-mcp", version: "1"}, appCapabilities: {}, protocolVersion: "2026-01-26"}});
    });
  }
  static context(context) { if (context?.theme) document.documentElement.dataset.theme = context.theme; }
  async overview() {
    return {title: this.detailOf.scenario, runs: [], foot: "One session of sandbox-mcp."};
  }
  async page() { return {rows: [], total: 0}; }
  async grid() { return []; }
  async detail() { return this.detailOf; }
  async pairs() { return null; }
}
