// keys: the keyboard: "g" and a letter goes to a page, "/" to the filter, "j" and "k"
// through links of rows, "?" lists all.  Single letters can be turned off.
import { signal } from "./dom.js";

const KEY = "soul.keys";
export const keysOn = signal(localStorage.getItem(KEY) !== "off");

export function setKeys(on) {
  localStorage.setItem(KEY, on ? "on" : "off");
  keysOn.value = on;
}

function step(by) {
  const rows = [...document.querySelectorAll("main td:first-child a, main td:first-child button")];
  const at = rows.indexOf(document.activeElement);
  rows[Math.max(0, Math.min(rows.length - 1, at + by))]?.focus();
}

// go(letter): whether there is such a page.
export function startKeys(go, help) {
  let after = "";
  addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    if (!keysOn.peek() || typing || event.ctrlKey || event.altKey || event.metaKey ||
        event.isComposing || document.querySelector("dialog[open]"))
      return;
    const before = after;
    after = "";
    if (before === "g" && go(event.key))
      event.preventDefault();
    else if (event.key === "g")
      after = "g";
    else if (event.key === "/" && document.querySelector(".filter")) {
      event.preventDefault();
      document.querySelector(".filter").focus();
    } else if (event.key === "j" || event.key === "k")
      step(event.key === "j" ? 1 : -1);
    else if (event.key === "?")
      help();
  });
}
