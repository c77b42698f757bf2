// body: one body: what it reported, what was sent, what was rejected.
import { html, signal } from "../lib/dom.js";
import { ago, name, t } from "../lib/i18n.js";
import { onLive } from "../lib/live.js";
import { Failure, call, get, query } from "../lib/net.js";
import { action, announce, confirmed, field, form, heading, json, loaded, resource, state,
  table, time } from "../lib/ui.js";
import { soulName } from "./bodies.js";

const LOG_MAX = 200;
const PAGES_MAX = 20;

// The newest events that are stored, the newest first.
export async function storedEvents(filter) {
  let items = [];
  let cursor = 0;
  for (let n = 0; n < PAGES_MAX; n++) {
    const page = await get(`/v1/events${query({ ...filter, cursor, limit: 500 })}`);
    items = [...items, ...page.items].slice(-LOG_MAX);
    cursor = page.cursor;
    if (!page.more)
      break;
  }
  return items.map(({ seq, event }) => ({ seq, ...event })).reverse();
}

export const eventTime = ({ meta }) => new Date(1000 * meta.timestamp).toISOString();

export default function body(id) {
  const path = `/v1/terminals/${encodeURIComponent(id)}`;
  // As it was when it was bound last: a form that is filled in stays.
  const bound = signal(null);
  const one = resource(async () => {
    const b = await get(path);
    if (JSON.stringify([b.soul_id, b.skills]) !==
        JSON.stringify([bound.peek()?.soul_id, bound.peek()?.skills]))
      bound.value = b;
    return b;
  });
  const stored = resource(() => storedEvents({ terminal_id: id }));
  const fresh = signal([]);
  onLive((event) => {
    if (event.payload.terminal_id !== id)
      return;
    fresh.value = [event, ...fresh.peek()].slice(0, LOG_MAX);
    if (/^terminal_|^report_refused/.test(event.type))
      one.reload();
  });
  const log = () => {
    const known = new Set(fresh.value.map(({ seq }) => seq));
    return [...fresh.value, ...stored.value.value.filter(({ seq }) => !known.has(seq))];
  };
  const unbind = async () => {
    if (!await confirmed(t("body.unbind?", { name: name(id) })))
      return;
    await call("DELETE", `${path}/soul`);
    location.hash = "#/bodies";
  };
  const done = signal(null);
  const invoke = async ({ skill, arguments: given }) => {
    let values;
    try {
      values = JSON.parse(given.trim() || "{}");
    } catch {
      throw new Failure(400, { error: `arguments: ${t("body.nojson")}` });
    }
    done.value = null;
    done.value = await call("POST", `${path}/invoke`, { skill, arguments: values });
    announce(t(`invoke.${done.value.outcome}`));
  };
  const outcome = (r) => html`<p>${state(r.outcome === "ok", t(`invoke.${r.outcome}`))}
    <code>${r.outcome}</code> ${r.error && name(r.error)} · ${r.duration_ms} ms</p>
    ${r.output !== undefined && json(r.output)}`;
  const tryIt = (b) => b.soul_id && b.skills.length > 0 && html`<section class="card">
    <h2>${t("body.do")}</h2><p class="quiet">${t("body.do.text")}</p>
    ${form(t("body.do"), html`${field(t("skill"), "skill", {
      options: b.skills.map((s) => [s, name(s)]) })}
      ${field(t("arguments"), "arguments", { kind: "textarea", value: "{}" })}`, invoke)}
    ${() => done.value && outcome(done.value)}</section>`;
  const about = (b) => html`<section class="card">
    <p>${state(b.online, t(b.online ? "online" : "offline-body"))} · ${t("seen")} ${ago(b.last_seen)}</p>
    <p>${t("soul")}: ${soulName(b.soul_id)} · ${t("broker")}: ${name(b.broker ?? "–")}</p>
    <h2>${t("skills")}</h2><p>${b.skills.length
      ? b.skills.map((s) => html`<code>${name(s)}</code> `) : t("nothing")}</p>
    <h2>${t("intents")}</h2><p>${b.intents.length
      ? b.intents.map((s) => html`<code>${name(s)}</code> `) : t("nothing")}</p>
    ${b.refused?.length > 0 && html`<h2>${t("rejected")}</h2>${table(t("rejected"), [
      [t("time"), (r) => time(r.at)], [t("report"), (r) => r.kind],
      [t("outcome"), (r) => r.outcome], [t("path"), (r) => html`<code>${r.path || "/"}</code>`],
      [t("reason"), (r) => name(r.reason)]], () => b.refused)}`}
    <p>${action(t("body.unbind"), unbind, { danger: true })}</p></section>`;
  return html`${heading(name(id))}<p><a href="#/bodies">${t("page.bodies")}</a></p>
    ${loaded(one, about)}
    ${() => bound.value && tryIt(bound.value)}
    <section class="card"><h2>${t("body.log")}</h2>${loaded(stored, () => table(t("body.log"), [
      [t("time"), (e) => time(eventTime(e))],
      [t("event"), (e) => html`<code>${e.type}</code>`],
      [t("content"), (e) => html`<details><summary>${t("show")}</summary>${json(e.payload)}</details>`],
    ], log, { text: (e) => e.type }))}</section>`;
}
