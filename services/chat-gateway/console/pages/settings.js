// settings: the token, language, theme, keys, and all data of the user.
import { html } from "../lib/dom.js";
import { LANGUAGES, clock, language, name, setLanguage, t } from "../lib/i18n.js";
import { keysOn, setKeys } from "../lib/keys.js";
import { call, logIn, loginNeeded, Failure, token } from "../lib/net.js";
import { isOwner, me, user } from "../lib/store.js";
import { setTheme, theme } from "../lib/theme.js";
import { action, announce, confirmed, heading } from "../lib/ui.js";

const THEMES = ["system", "light", "dark"];

function choice(label, id, options, value, change) {
  return html`<div class="field"><label for=${id}>${label}</label>
    <select id=${id} @change=${(e) => change(e.target.value)}>${options.map(([key, text]) =>
      html`<option value=${key} ?selected=${key === value}>${text}</option>`)}</select></div>`;
}

export default function settings() {
  const logOut = () => {
    logIn("", false);
    if (me.peek()?.authenticated)
      loginNeeded.value = new Failure(401);
  };
  const erase = async () => {
    const id = user();
    if (!await confirmed(t("erase?", { name: name(id) }), id))
      return;
    await call("DELETE", `/v1/users/${encodeURIComponent(id)}/data`);
    announce(t("deleted"));
  };
  return html`${heading(t("page.settings"))}<section class="card"><h2>${t("account")}</h2>
    ${() => me.value && html`<p>${t("role")}: <code>${me.value.role}</code>
      ${me.value.user_id && html`<span> · ${t("user")}: ${name(me.value.user_id)}</span>`}
      ${me.value.tenant && html`<span> · ${t("tenant")}: ${name(me.value.tenant)}</span>`}</p>
      ${me.value.expires_at && html`<p>${t("expires", { time: clock(me.value.expires_at) })}</p>`}
      <p class="quiet">${t("version")} ${me.value.version}</p>
      ${!me.value.authenticated && html`<p class="quiet">${t("no-login")}</p>`}`}
    ${() => token.value && action(t("logout"), async () => logOut())}</section>
    <section class="card"><h2>${t("display")}</h2>
    ${choice(t("language"), "set-language", Object.entries(LANGUAGES), language.peek(), setLanguage)}
    ${choice(t("theme"), "set-theme", THEMES.map((x) => [x, t(`theme.${x}`)]), theme(), setTheme)}
    <p><input type="checkbox" id="set-keys" .checked=${() => keysOn.value}
      @change=${(e) => setKeys(e.target.checked)}>
      <label for="set-keys">${t("keys.on")}</label></p></section>
    ${() => isOwner() && user() && html`<section class="card"><h2>${t("erase.title")}</h2>
      <p>${t("erase.text")}</p>${action(t("erase"), erase, { danger: true })}</section>`}`;
}
