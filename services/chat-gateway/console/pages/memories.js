// memories: what is remembered of the user, and of which soul.
import { html, signal } from "../lib/dom.js";
import { name, t } from "../lib/i18n.js";
import { onLive } from "../lib/live.js";
import { call, get, getText, query } from "../lib/net.js";
import { soul, souls, user } from "../lib/store.js";
import { action, announce, confirmed, download, field, form, heading, json, loaded, resource,
  table, time } from "../lib/ui.js";

function profile() {
  const path = `/v1/users/${encodeURIComponent(user())}/profile`;
  const stored = resource(() => get(path));
  const add = async ({ key, value }) => {
    await call("PATCH", path, { user_profile: { [key]: value || null } });
    await stored.reload();
    announce(t("saved"));
  };
  return html`<section class="card"><h2>${t("profile")}</h2>
    ${loaded(stored, (p) => Object.keys(p.user_profile).length
      ? json(p.user_profile) : html`<p class="quiet">${t("nothing")}</p>`)}
    ${form(t("save"), html`${field(t("profile.key"), "key", { required: true })}
      ${field(t("profile.value"), "value")}`, add)}</section>`;
}

export default function memories() {
  const more = signal([]);
  const next = signal("");
  const searched = signal("");
  const path = (extra) => `/v1/memories${query({ soul_id: soul()?.soul_id,
    query: searched.peek(), limit: searched.peek() ? "" : 100, ...extra })}`;
  const list = resource(async () => {
    const page = await get(path({}));
    more.value = [];
    next.value = page.next ?? "";
    return page;
  });
  onLive(({ type }) => type === "memory_stored" && list.reload());
  const search = async ({ query: wanted }) => {
    searched.value = wanted.trim();
    await list.reload();
  };
  const forget = async (m) => {
    if (!await confirmed(t("memory.forget?", { text: name(m.text) })))
      return;
    await call("DELETE",
      `/v1/memories/${encodeURIComponent(m.memory_id)}${query({ soul_id: m.soul_id })}`);
    await list.reload();
    announce(t("deleted"));
  };
  const forgetAll = async () => {
    const s = soul();
    if (!await confirmed(t("memory.all?", { name: name(s.name) }), s.name))
      return;
    await call("DELETE", `/v1/memories${query({ soul_id: s.soul_id })}`);
    await list.reload();
    announce(t("deleted"));
  };
  const load = async () => {
    const page = await get(path({ cursor: next.peek() }));
    more.value = [...more.peek(), ...page.items];
    next.value = page.next ?? "";
  };
  const save = async () => download(
    await getText(`/v1/memories/export${query({ soul_id: soul()?.soul_id })}`), "memories.jsonl");
  const text = (m) => m.superseded_by
    ? html`<s>${m.text}</s> <span class="quiet">${t("memory.superseded")}</span>` : m.text;
  const columns = [
    [t("memory"), text],
    [t("kind"), (m) => m.type ? t(`memory.${m.type}`) : "–"],
    [t("time"), (m) => time(m.created_at)],
    [t("delete"), (m) => action(t("memory.forget"), () => forget(m), { danger: true })],
  ];
  return html`${heading(t("page.memories"))}
    ${() => souls.value && !soul() && html`<p>${t("soul.none")}</p>`}
    ${() => soul() && html`
    <section class="card">${form(t("search"),
      field(t("memory.search"), "query", { kind: "search", className: "filter" }), search)}
    ${loaded(list, (page) => html`
      ${page.degraded && html`<p class="bad">${t("memory.degraded")}</p>`}
      ${table(t("page.memories"), columns, () => [...page.items, ...more.value],
        { empty: t("memory.none") })}
      ${() => next.value && action(t("more"), load)}`)}
    <p class="actions">${action(t("export"), save)}
      ${action(t("memory.all"), forgetAll, { danger: true })}</p></section>`}
    ${() => user() && profile()}`;
}
