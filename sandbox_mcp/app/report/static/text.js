// Elements and texts. Nothing that comes from a log is ever markup: it only becomes text nodes, and characters that
// would steer the reader's eye or cannot be seen (controls, bidirectional marks, zero width, tags) are shown by their number
// instead; what joins and keeps apart letters and the parts of pictures stays.
"use strict";

const HIDDEN = /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|\udb40[\udc00-\udc7f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff])/;
const LONG_TEXT = 4096;

function attach(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

const h = (tag, attributes = {}, ...children) => attach(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) =>
  attach(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

const byId = (id) => document.getElementById(id);

function visible(text) {
  return String(text).split(HIDDEN).map((part, index) => index % 2
    ? h("span", {class: "hidden-char mono"}, "U+" + part.codePointAt(0).toString(16).toUpperCase().padStart(4, "0"))
    : part);
}

// A foreign text: isolated, so that its direction cannot leak, and folded where it is long.
function foreign(text) {
  const whole = String(text);
  if (whole.length <= LONG_TEXT) return h("bdi", {}, visible(whole));
  const rest = h("details", {class: "long"}, h("summary", {}, `${(whole.length - LONG_TEXT).toLocaleString("en")} more characters`));
  rest.addEventListener("toggle", () => { if (rest.open && rest.children.length === 1) rest.append(...visible(whole.slice(LONG_TEXT))); });
  return h("bdi", {}, visible(whole.slice(0, LONG_TEXT)), rest);
}

const number = (value, digits = 2) => value === null || value === undefined ? "–" : Number(value).toFixed(digits);
const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

function duration(seconds) {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  return seconds < 172800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} days`;
}

function pressed(label, on, act, extra = {}) {
  return h("button", {type: "button", "aria-pressed": String(on), onclick: act, ...extra}, label);
}

async function copied(text) {
  try { await navigator.clipboard.writeText(text); return true; } catch { return false; }
}
