// star: environments, who is in them, and where the soul lives.
import { html, signal } from "../lib/dom.js";
import { name, t } from "../lib/i18n.js";
import { call, get } from "../lib/net.js";
import { soul } from "../lib/store.js";
import { action, announce, confirmed, field, form, heading, json, loaded, resource, table,
  time } from "../lib/ui.js";

async function homeOf(id) {
  try {
    return await get(`/v1/souls/${id}/star`);
  } catch (error) {
    if (error.status === 404)
      return null;
    throw error;
  }
}

function environment(id) {
  const path = `/v1/star/environments/${encodeURIComponent(id)}`;
  const members = resource(() => get(`${path}/members`));
  const events = resource(() => get(`${path}/events`));
  return html`<section class="card"><h2>${name(id)}</h2>
    ${loaded(members, (m) => table(t("members"), [[t("name"), (x) => name(x.id)],
      [t("kind"), (x) => x.type], [t("hub"), (x) => name(x.hub)]], () => m.items))}
    <h2>${t("events")}</h2>${loaded(events, (e) => e.events.length
      ? json(e.events.slice(-20)) : html`<p class="quiet">${t("nothing")}</p>`)}
    <p>${action(t("reload"), async () => { await members.reload(); await events.reload(); })}</p></section>`;
}

export default function star(id) {
  const list = resource(() => get("/v1/star/environments"));
  const home = resource(() => soul() ? homeOf(soul().soul_id) : null);
  const failed = signal(null);
  const enter = async ({ env_id, agent_id }) => {
    failed.value = null;
    await call("POST", `/v1/souls/${soul().soul_id}/star`, { env_id, agent_id });
    await home.reload();
    announce(t("saved"));
  };
  const leave = async () => {
    if (!await confirmed(t("star.leave?", { name: name(soul().name) })))
      return;
    await call("DELETE", `/v1/souls/${soul().soul_id}/star`);
    await home.reload();
  };
  const columns = [
    [t("environment"), (e) =>
      html`<a href=${`#/star/${encodeURIComponent(e.env_id)}`}>${name(e.env_id)}</a>`],
    [t("members"), (e) => e.members],
  ];
  return html`${heading(t("page.star"))}
    ${id && environment(id)}
    <section class="card">${loaded(list, (all) => html`<p class="quiet">${t("star.counts", all)}</p>
      ${table(t("page.star"), columns, () => all.items,
        { text: (e) => e.env_id, empty: t("star.none") })}`)}
      <p>${action(t("reload"), () => list.reload())}</p></section>
    ${() => soul() && html`<section class="card"><h2>${t("star.home", { name: name(soul().name) })}</h2>
    ${loaded(home, (h) => h ? html`<p>${name(h.env_id)} · ${name(h.agent_id)}
      ${time(h.entered_at)}</p><p>${action(t("star.leave"), leave, { danger: true })}</p>`
      : form(t("star.enter"), html`${field(t("environment"), "env_id", { required: true })}
        ${field(t("agent"), "agent_id", { required: true })}`, enter))}</section>`}`;
}
