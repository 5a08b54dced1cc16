// An MCP App: the host of a chat shows this page in a frame and hands it the session by messages.
"use strict";

class HostSource {
  constructor(detail) { this.detailOf = detail; }
  get live() { return false; }
  static open() {
    return new Promise((resolve) => {
      let id = 0;
      const send = (message) => parent.postMessage({jsonrpc: "2.0", ...message}, "*");
      const started = ++id;
      addEventListener("message", (event) => {
        if (event.source !== parent || event.data?.jsonrpc !== "2.0") return;
        const {method, params, result} = event.data;
        if (event.data.id === started && result) { send({method: "ui/notifications/initialized"}); HostSource.context(result.hostContext); }
        else if (method === "ui/notifications/tool-result") { const page = params?.structuredContent?.page; if (page) { resolve(new HostSource(page)); } }
        else if (method === "ui/notifications/host-context-changed") HostSource.context(params);
        else if (method === "ui/resource-teardown") send({id: event.data.id, result: {}});
      });
      new ResizeObserver(() => send({method: "ui/notifications/size-changed", params: {width: document.documentElement.scrollWidth, height: document.documentElement.scrollHeight}})).observe(document.body);
      send({id: started, method: "ui/initialize", params: {appInfo: {name: "sandbox-mcp", version: "1"}, appCapabilities: {}, protocolVersion: "2026-01-26"}});
    });
  }
  static context(context) { if (context?.theme) document.documentElement.dataset.theme = context.theme; }
  async overview() {
    if (!location.hash.startsWith("#/s/")) history.replaceState(null, "", "#/s/" + encodeURIComponent(this.detailOf.id));
    return {title: this.detailOf.scenario, runs: [], foot: "One session of sandbox-mcp."};
  }
  async page() { return {rows: [], total: 0}; }
  async grid() { return []; }
  async detail() { return this.detailOf; }
  async pairs() { return null; }
}
