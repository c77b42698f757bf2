// bodies: the user's bodies, and how to bind one.
import { html } from "../lib/dom.js";
import { ago, name, t } from "../lib/i18n.js";
import { onLive } from "../lib/live.js";
import { call, get } from "../lib/net.js";
import { soul, souls } from "../lib/store.js";
import { announce, field, form, heading, loaded, resource, state, table } from "../lib/ui.js";

export const soulName = (id) =>
  name(souls.value?.find((s) => s.soul_id === id)?.name ?? id ?? "–");

export default function bodies() {
  const all = resource(async () => (await get("/v1/terminals")).items);
  onLive(({ type }) => /^terminal_|^report_refused/.test(type) && all.reload());
  const bind = async ({ terminal_id, soul_id }) => {
    await call("POST", "/v1/souls/select", { terminal_id: terminal_id.trim(), soul_id });
    await all.reload();
    announce(t("home.bound"));
  };
  const columns = [
    [t("terminal"), (b) =>
      html`<a href=${`#/body/${encodeURIComponent(b.terminal_id)}`}>${name(b.terminal_id)}</a>`],
    [t("state"), (b) => state(b.online, t(b.online ? "online" : "offline-body"))],
    [t("seen"), (b) => ago(b.last_seen)],
    [t("soul"), (b) => soulName(b.soul_id)],
    [t("skills"), (b) => b.skills.length],
    [t("rejected"), (b) => b.last_refused
      ? html`<code>${b.last_refused.path}</code> ${name(b.last_refused.reason)}` : "–"],
  ];
  return html`${heading(t("page.bodies"))}
    ${loaded(all, () => table(t("page.bodies"), columns, () => all.value.value,
      { text: (b) => `${b.terminal_id} ${b.last_refused?.reason ?? ""}`,
        empty: t("bodies.none") }))}
    <section class="card"><h2>${t("bodies.bind")}</h2>
    ${() => souls.value?.length ? form(t("bind"), html`
      ${field(t("terminal"), "terminal_id", { required: true, autocomplete: "off" })}
      ${field(t("soul"), "soul_id", { value: soul().soul_id,
        options: souls.value.map((s) => [s.soul_id, name(s.name)]) })}`, bind)
    : html`<p>${t("soul.none")}</p>`}</section>`;
}
