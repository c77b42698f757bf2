// turns: what went into each stage of a turn, what came out, and where its time went.
import { html, signal } from "../lib/dom.js";
import { name, number, t } from "../lib/i18n.js";
import { onLive } from "../lib/live.js";
import { get, query } from "../lib/net.js";
import { action, announce, download, field, form, heading, loaded, resource, state, table, time }
  from "../lib/ui.js";

const STATES = ["", "completed", "failed", "canceled"];

// JSON as people read it; what was cut stays as it is.
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const part = (label, text) => text && html`<h3>${label}</h3><pre tabindex="0">${pretty(text)}</pre>`;

function stage(s, total) {
  const begin = 100 * s.start_ms / total;
  const long = Math.max(0.5, 100 * (s.ms ?? 0) / total);
  const bar = html`<svg class="span" viewBox="0 0 100 6" preserveAspectRatio="none"
    aria-hidden="true"><rect x=${begin} y="0" width=${long} height="6"></rect></svg>`;
  const model = s.provider && html`<p class="quiet">${name(s.provider)} ·
    ${t("turn.tokens", { in: s.tokens_in ?? "?", out: s.tokens_out ?? "?" })} ·
    ${t("turn.attempts", { n: s.attempts ?? "?" })}</p>`;
  return html`<tr><td data-head=${t("stage")}>${s.in || s.out
    ? html`<details><summary>${s.stage} ${s.what && html`<code>${name(s.what)}</code>`}</summary>
      ${model}${part(t("turn.in"), s.in)}${part(t("turn.out"), s.out)}</details>`
    : html`${s.stage} ${s.what && html`<code>${name(s.what)}</code>`}`}</td>
    <td data-head=${t("turn.when")}>${bar}</td>
    <td class="number" data-head="ms">${number(s.ms ?? 0, 1)}${s.first_ms !== undefined &&
      html`<span class="quiet"> (${number(s.first_ms, 1)})</span>`}</td>
    <td data-head=${t("outcome")}>${s.outcome ?? ""}</td></tr>`;
}

function turn(id) {
  const one = resource(() => get(`/v1/turns/${encodeURIComponent(id)}?detail=1`));
  const copy = async (text) => {
    await navigator.clipboard.writeText(text);
    announce(t("turn.copied"));
  };
  return loaded(one, (r) => {
    const total = Math.max(r.total_ms ?? 0, 0.001,
      ...(r.timeline ?? []).map((s) => s.start_ms + (s.ms ?? 0)));
    return html`<section class="card"><h2>${time(r.started_at)}
      ${t("turn.total", { ms: number(r.total_ms ?? 0, 1), state: r.state })}</h2>
      ${r.user_text && html`<p><strong>${t("role.user")}:</strong> ${name(r.user_text)}</p>`}
      ${r.reply && html`<p><strong>${t("role.assistant")}:</strong> ${r.reply}</p>`}
      ${r.code && html`<p class="bad"><code>${r.code}</code></p>`}
      <p class="quiet">${t("trace")} <code>${r.trace_id ?? "–"}</code></p>
      <p class="actions">${r.trace_id && action(t("turn.copy"), () => copy(r.trace_id))}
        <button type="button" @click=${() => download(
          `${JSON.stringify(r, null, 2)}\n`, `${r.turn_id}.json`)}>${t("turn.json")}</button></p>
      <table><caption class="hidden">${t("turn")}</caption><thead><tr>
        <th scope="col">${t("stage")}</th><th scope="col">${t("turn.when")}</th>
        <th scope="col">ms</th><th scope="col">${t("outcome")}</th></tr></thead><tbody>
        ${(r.timeline ?? []).map((s) => stage(s, total))}</tbody></table></section>`;
  });
}

export default function turns(id) {
  const wanted = signal({});
  const more = signal([]);
  const next = signal("");
  const path = (cursor) => `/v1/turns${query({ ...wanted.peek(), cursor })}`;
  const list = resource(async () => {
    const page = await get(path());
    more.value = [];
    next.value = page.next ?? "";
    return page.items;
  });
  // The details are stored a moment after the event.
  onLive(({ type }) => type === "turn_completed" && setTimeout(list.reload, 300));
  const load = async () => {
    const page = await get(path(next.peek()));
    more.value = [...more.peek(), ...page.items];
    next.value = page.next ?? "";
  };
  const filter = async (values) => {
    wanted.value = values;
    await list.reload();
  };
  const columns = [
    [t("time"), (x) => html`<a href=${`#/turns/${encodeURIComponent(x.turn_id)}`}
      aria-current=${x.turn_id === id ? "true" : null}>${time(x.started_at)}</a>`],
    [t("role.user"), (x) => name(x.user_text)],
    [t("state"), (x) => state(x.state === "completed" && x.unconfirmed === 0,
      `${x.state} ${x.code ?? ""}`)],
    ["✓ ✗", (x) => `${x.confirmed} / ${x.unconfirmed}`],
    ["ms", (x) => number(x.total_ms, 0)],
    [t("terminal"), (x) => name(x.terminal_id)],
  ];
  return html`${heading(t("page.turns"))}<p class="quiet">${t("turns.text")}</p>
    ${id && turn(id)}
    <details><summary>${t("filter")}</summary>${form(t("filter"), html`
      ${field(t("state"), "state", { options: STATES.map((s) => [s, s || t("turns.all")]) })}
      ${field(t("terminal"), "terminal_id", { autocomplete: "off" })}
      ${field(t("turns.slower"), "slower_ms", { kind: "number", min: 0, max: 86400000 })}`,
    filter)}</details>
    ${loaded(list, (items) => html`${table(t("page.turns"), columns,
      () => [...items, ...more.value],
      { text: (x) => `${x.user_text} ${x.state} ${x.terminal_id}`, empty: t("turns.none") })}
      ${() => next.value && action(t("more"), load)}`)}`;
}
