// system: the services that run, what they miss, and the limits of the server.
import { html } from "../lib/dom.js";
import { ago, name, t } from "../lib/i18n.js";
import { get } from "../lib/net.js";
import { isOperator } from "../lib/store.js";
import { action, heading, loaded, resource, state, table } from "../lib/ui.js";

export default function system() {
  const status = resource(() => get("/v1/status"));
  // Processes of one service differ by their age.
  const columns = [
    [t("system.service"), (s) => html`<code>${name(s.name)}</code>`],
    [t("state"), (s) => state(s.ready, t(s.ready ? "system.ready" : "system.notready"))],
    [t("version"), (s) => name(s.version)],
    [t("system.since"), (s) => ago(s.since)],
    ...isOperator() ? [[t("system.says"), (s) => (s.status ?? "").trim().split("\n")
      .filter((line) => line !== "ok").map((line) => html`<span>${name(line)}<br></span>`)]] : [],
  ];
  const versions = (list) => new Set(list.map((s) => s.version)).size;
  return html`${heading(t("page.system"), action(t("reload"), () => status.reload()))}
    <p class="quiet">${t("system.text")}</p>
    ${loaded(status, (r) => html`
      <p role="status">${state(r.ok, t(r.ok ? "system.ok" : "system.bad"))}
        · ${t("version")} ${name(r.version)}
        ${versions(r.services) > 1 && html`<strong class="bad">${t("system.mixed")}</strong>`}</p>
      ${table(t("page.system"), columns, () => r.services,
        { text: (s) => `${s.name} ${s.status ?? ""}`, empty: t("system.none") })}`)}`;
}
