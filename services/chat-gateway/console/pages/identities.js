// identities: names and passwords of bodies.
import { html, signal } from "../lib/dom.js";
import { name, t } from "../lib/i18n.js";
import { call, get, query } from "../lib/net.js";
import { action, announce, confirmed, field, form, heading, loaded, resource, state, table,
  time } from "../lib/ui.js";

export default function identities() {
  const more = signal([]);
  const next = signal("");
  const secret = signal(null);
  const list = resource(async () => {
    const page = await get("/v1/identities");
    more.value = [];
    next.value = page.next ?? "";
    return page.items;
  });
  const load = async () => {
    const page = await get(`/v1/identities${query({ cursor: next.peek() })}`);
    more.value = [...more.peek(), ...page.items];
    next.value = page.next ?? "";
  };
  const mint = async ({ terminal_id, user_id }, node) => {
    secret.value = await call("POST", "/v1/terminals",
      { terminal_id: terminal_id.trim(), ...(user_id ? { user_id } : {}) });
    node.reset();
    await list.reload();
    announce(t("identity.minted"));
  };
  const rotate = async (i) => {
    if (!await confirmed(t("identity.rotate?", { name: name(i.terminal_id) })))
      return;
    secret.value = await call("POST",
      `/v1/terminals/${encodeURIComponent(i.terminal_id)}/rotate`, {});
    await list.reload();
  };
  const revoke = async (i) => {
    if (!await confirmed(t("identity.revoke?", { name: name(i.terminal_id) })))
      return;
    await call("DELETE", `/v1/terminals/${encodeURIComponent(i.terminal_id)}`);
    await list.reload();
  };
  const columns = [
    [t("terminal"), (i) => name(i.terminal_id)],
    [t("user"), (i) => name(i.user_id ?? "–")],
    [t("state"), (i) => state(!i.revoked, t(i.revoked ? "revoked" : "valid"))],
    [t("changed"), (i) => time(i.changed_at)],
    [t("action"), (i) => i.revoked ? "–" : html`<span class="actions">
      ${action(t("identity.rotate"), () => rotate(i))}
      ${action(t("identity.revoke"), () => revoke(i), { danger: true })}</span>`],
  ];
  return html`${heading(t("page.identities"))}
    ${() => secret.value && html`<section class="card" role="status">
      <h2>${t("identity.secret", { name: name(secret.value.terminal_id) })}</h2>
      <p>${t("identity.once")}</p><table><tbody>
      ${["username", "password", "token"].map((key) => secret.value[key] &&
        html`<tr><th scope="row">${key}</th><td><code>${secret.value[key]}</code></td></tr>`)}
      </tbody></table>
      <button type="button" @click=${() => { secret.value = null; }}>${t("close")}</button></section>`}
    <section class="card"><h2>${t("identity.mint")}</h2>${form(t("create"), html`
      ${field(t("terminal"), "terminal_id", { required: true, autocomplete: "off" })}
      ${field(t("identity.user"), "user_id", { autocomplete: "off" })}`, mint)}</section>
    ${loaded(list, (items) => html`${table(t("page.identities"), columns,
      () => [...items, ...more.value], { text: (i) => `${i.terminal_id} ${i.user_id ?? ""}`,
        empty: t("identity.none") })}
      ${() => next.value && action(t("more"), load)}`)}`;
}
