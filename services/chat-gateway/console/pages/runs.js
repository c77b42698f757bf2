// runs: conversations of coding engines.
import { html, signal } from "../lib/dom.js";
import { name, t } from "../lib/i18n.js";
import { onLive } from "../lib/live.js";
import { call, get, query } from "../lib/net.js";
import { action, field, form, heading, loaded, resource, table, time } from "../lib/ui.js";

const MODES = ["interactive", "auto", "file-write"];

export default function runs() {
  const more = signal([]);
  const next = signal("");
  const list = resource(async () => {
    const page = await get("/v1/runs");
    more.value = [];
    next.value = page.next ?? "";
    return page.items;
  });
  const engines = resource(async () => (await get("/v1/engines")).items);
  onLive(({ type }) => /^run_/.test(type) && list.reload());
  const start = async ({ engine, mode, prompt }) => {
    const { run_id } = await call("POST", "/v1/runs", { engine, mode, prompt });
    location.hash = `#/run/${encodeURIComponent(run_id)}`;
  };
  const load = async () => {
    const page = await get(`/v1/runs${query({ cursor: next.peek() })}`);
    more.value = [...more.peek(), ...page.items];
    next.value = page.next ?? "";
  };
  const columns = [
    [t("run"), (r) => html`<a href=${`#/run/${encodeURIComponent(r.run_id)}`}>${
      name(r.title || r.run_id)}</a>`],
    [t("state"), (r) => html`<code>${r.state}</code> ${t(`run.${r.state}`)}`],
    [t("engine"), (r) => name(r.engine)],
    [t("time"), (r) => time(r.created_at)],
  ];
  return html`${heading(t("page.runs"))}
    ${loaded(list, (items) => html`${table(t("page.runs"), columns,
      () => [...items, ...more.value], { text: (r) => `${r.title} ${r.state}`, empty: t("runs.none") })}
      ${() => next.value && action(t("more"), load)}`)}
    <section class="card"><h2>${t("runs.start")}</h2>${loaded(engines, (items) => items.length
      ? form(t("start"), html`
        ${field(t("engine"), "engine", { options: items.map((e) =>
          [e.engine, `${name(e.engine)} (${e.free}/${e.places})`]) })}
        ${field(t("mode"), "mode", { options: MODES.map((m) => [m, t(`mode.${m}`)]) })}
        ${field(t("prompt"), "prompt", { kind: "textarea", required: true })}`, start)
      : html`<p class="quiet">${t("runs.noengine")}</p>`)}</section>`;
}
