// tools: questions that wait for a reply, tools and who may use them, their servers.
import { html, signal } from "../lib/dom.js";
import { name, t } from "../lib/i18n.js";
import { onLive } from "../lib/live.js";
import { call, get, query, randomId } from "../lib/net.js";
import { isOperator } from "../lib/store.js";
import { question } from "../lib/question.js";
import { action, announce, confirmed, failure, field, form, heading, loaded, resource,
  state, table } from "../lib/ui.js";

const POLICIES = ["auto", "ask", "never"];

function waiting() {
  const list = resource(async () =>
    (await get("/v1/interactions?state=waiting")).interactions);
  onLive(({ type }) => /^(turn_completed|run_)/.test(type) && list.reload());
  const answer = async (q, content) => {
    const to = q.run_id ? `/v1/runs/${encodeURIComponent(q.run_id)}/reply`
      : `/v1/sessions/${encodeURIComponent(q.session_id)}/reply`;
    await call("POST", to, { interaction_id: q.interaction_id, content,
      idempotency_key: randomId("k_") });
    await list.reload();
    announce(t("replied"));
  };
  return html`<section class="card"><h2>${t("approvals")}</h2>
    ${loaded(list, (items) => items.length ? items.map((q) => question(q, answer))
      : html`<p class="quiet">${t("approvals.none")}</p>`)}</section>`;
}

// A choice that is sent at once; it changes when the server has agreed.
function policy(tool, reload) {
  const error = signal(null);
  const change = async (event) => {
    const node = event.target;
    const wanted = node.value;
    node.value = tool.policy;
    try {
      await call("PUT", `/v1/mcp/grants/${encodeURIComponent(tool.name)}`, { policy: wanted });
      await reload();
      announce(t("saved"));
    } catch (e) {
      error.value = e;
    }
  };
  return html`<select aria-label=${`${t("policy")}: ${tool.name}`} @change=${change}>
    ${POLICIES.map((p) => html`<option value=${p} ?selected=${p === tool.policy}>${
      t(`policy.${p}`)}</option>`)}</select>${() => failure(error.value)}`;
}

export default function tools() {
  const servers = resource(async () => (await get("/v1/mcp/servers")).servers);
  const found = signal("");
  const list = resource(() => get(`/v1/mcp/tools${query({ q: found.peek(), limit: 100 })}`));
  const search = async ({ q }) => {
    found.value = q.trim();
    await list.reload();
  };
  const add = async ({ name: called, url, policy: wanted }) => {
    await call("PUT", `/v1/mcp/servers/${encodeURIComponent(called)}`, { url, policy: wanted });
    await servers.reload();
    announce(t("saved"));
  };
  const remove = async (s) => {
    if (!await confirmed(t("server.delete?", { name: name(s.name) })))
      return;
    await call("DELETE", `/v1/mcp/servers/${encodeURIComponent(s.name)}`);
    await servers.reload();
  };
  const restart = (s) => call("POST", `/v1/mcp/servers/${encodeURIComponent(s.name)}/restart`);
  const serverColumns = [
    [t("name"), (s) => name(s.name)],
    [t("state"), (s) => html`${state(s.state === "ready", s.state)} ${s.error && name(s.error)}`],
    [t("kind"), (s) => `${s.kind}, ${s.owner}`],
    [t("page.tools"), (s) => s.tools],
    [t("action"), (s) => s.owner === "user"
      ? action(t("delete"), () => remove(s), { danger: true })
      : isOperator() ? action(t("restart"), () => restart(s)) : "–"],
  ];
  const toolColumns = [
    [t("name"), (x) => html`<code>${name(x.name)}</code>
      ${x.changed && html`<strong class="bad">${t("tool.changed")}</strong>`}`],
    [t("description"), (x) => (x.description ?? x.title ?? "").slice(0, 200)],
    [t("policy"), (x) => policy(x, list.reload)],
  ];
  return html`${heading(t("page.tools"))}${waiting()}
    <section class="card"><h2>${t("page.tools")}</h2>
    ${form(t("search"), field(t("filter"), "q", { kind: "search", className: "filter" }), search)}
    ${loaded(list, (page) => table(t("page.tools"), toolColumns, () => page.tools,
      { empty: t("tools.none") }))}</section>
    <section class="card"><h2>${t("servers")}</h2>
    ${loaded(servers, (items) => table(t("servers"), serverColumns, () => items))}
    ${form(t("server.add"), html`${field(t("name"), "name", { required: true })}
      ${field("URL", "url", { kind: "url", required: true, placeholder: "https://…" })}
      ${field(t("policy"), "policy", { value: "ask",
        options: POLICIES.map((p) => [p, t(`policy.${p}`)]) })}`, add)}</section>`;
}
