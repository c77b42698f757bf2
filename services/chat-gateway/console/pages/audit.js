// audit: who did what, for operators.
import { html, signal } from "../lib/dom.js";
import { name, t } from "../lib/i18n.js";
import { onLive } from "../lib/live.js";
import { heading, loaded, resource, table, time } from "../lib/ui.js";
import { eventTime, storedEvents } from "./body.js";

const whom = (p) => ["user_id", "terminal_id", "soul_id", "session_id", "run_id", "client_id"]
  .filter((key) => p[key]).map((key) => html`<span><code>${name(p[key])}</code> </span>`);

export default function audit() {
  const stored = resource(() => storedEvents({ types: "audit" }));
  const fresh = signal([]);
  onLive((event) => {
    if (event.type === "audit")
      fresh.value = [event, ...fresh.peek()].slice(0, 200);
  });
  const all = () => {
    const known = new Set(fresh.value.map(({ seq }) => seq));
    return [...fresh.value, ...stored.value.value.filter(({ seq }) => !known.has(seq))];
  };
  const columns = [
    [t("time"), (e) => time(eventTime(e))],
    [t("action"), ({ payload: p }) => html`<code>${p.action}</code>`],
    [t("by"), ({ payload: p }) => `${p.role ?? ""} ${name(p.caller_id ?? "")} ${name(p.address ?? "")}`],
    [t("whom"), ({ payload: p }) => whom(p)],
    [t("reason"), ({ payload: p }) => name(p.reason ?? "")],
  ];
  return html`${heading(t("page.audit"))}<p class="quiet">${t("audit.text")}</p>
    ${loaded(stored, () => table(t("page.audit"), columns, all,
      { text: ({ payload }) => Object.values(payload).join(" "), empty: t("audit.none") }))}`;
}
