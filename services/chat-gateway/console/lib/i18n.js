// i18n: the words of the page's language, and numbers and times in it.
import { signal } from "./dom.js";
import { clockAhead } from "./net.js";

const KEY = "soul.language";
export const LANGUAGES = { en: "English", zh: "中文" };

export const language = signal(
  localStorage.getItem(KEY) ??
  (navigator.languages.find((l) => /^(zh|en)/.test(l)) ?? "en").slice(0, 2));

let words = {};

export async function loadWords() {
  const wanted = language.value;
  words = (await import(`../words/${wanted}.js`)).default;
  document.documentElement.lang = wanted === "zh" ? "zh-CN" : "en";
}

export async function setLanguage(wanted) {
  localStorage.setItem(KEY, wanted);
  words = (await import(`../words/${wanted}.js`)).default;
  document.documentElement.lang = wanted === "zh" ? "zh-CN" : "en";
  language.value = wanted;
}

// The text of a key, with {name} replaced.
export function t(key, values = {}) {
  return (words[key] ?? key).replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
}

export const has = (key) => key in words;

export function number(value, digits = 0) {
  return new Intl.NumberFormat(language.peek(),
    { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
}

export const signed = (value) => (value < 0 ? "−" : "+") + number(Math.abs(value), 2);

export function clock(time) {
  const at = new Date(time);
  const today = at.toDateString() === new Date().toDateString();
  return new Intl.DateTimeFormat(language.peek(), today
    ? { hour: "2-digit", minute: "2-digit", second: "2-digit" }
    : { dateStyle: "short", timeStyle: "short" }).format(at);
}

const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];

export function ago(time) {
  if (!time)
    return t("never");
  const s = Math.max(0, (Date.now() + clockAhead - Date.parse(time)) / 1000);
  const [unit, size] = UNITS.find(([, n]) => s >= n) ?? UNITS.at(-1);
  return new Intl.RelativeTimeFormat(language.peek(), { numeric: "auto" })
    .format(-Math.floor(s / size), unit);
}

// Text from outside: at most 128 characters, with what cannot be seen made visible.
export function name(text) {
  const shown = [...String(text ?? "")];
  return shown.slice(0, 128).map((c) =>
    /[\p{Cc}\p{Cf}\u2028\u2029]/u.test(c)
      ? `\u2039${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}\u203a`
      : c).join("") + (shown.length > 128 ? "…" : "");
}
