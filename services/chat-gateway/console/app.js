// app: the frame of the console: navigation, state of the connection, login, pages.
import { effect, html, scope, signal, untracked } from "./lib/dom.js";
import { LANGUAGES, language, loadWords, name, setLanguage, t } from "./lib/i18n.js";
import { setKeys, startKeys } from "./lib/keys.js";
import { liveGap, liveState, startLive } from "./lib/live.js";
import { actFor, acting, get, logIn, loginNeeded } from "./lib/net.js";
import { choose, isOperator, isOwner, isProvisioner, me, mustChooseUser, recentUsers,
  rememberUser, soul, souls, startStore } from "./lib/store.js";
import { applyTheme } from "./lib/theme.js";
import { failure, field, form, heading } from "./lib/ui.js";

// name, key after "g", who may use it
const PAGES = [
  ["home", "h", isOwner],
  ["soul", "s", isOwner],
  ["chat", "c", isOwner],
  ["turns", "u", isOwner],
  ["bodies", "b", isOwner],
  ["browser", "o", isOwner],
  ["memories", "m", isOwner],
  ["alarms", "l", isOwner],
  ["try", "y", isOwner],
  ["runs", "r", isOwner],
  ["tools", "t", isOwner],
  ["evolutions", "v", isOwner],
  ["star", "e", isOwner],
  ["identities", "i", isProvisioner],
  ["system", "z", isOperator],
  ["audit", "a", isOperator],
  ["settings", ",", () => true],
];
const DETAILS = { body: "bodies", run: "runs" };

const route = signal(readRoute());
const offline = signal(!navigator.onLine);
const helpShown = signal(false);
const known = signal(false); // who the caller is
const unchosen = signal(false); // for whom an operator acts
let endPage = () => {};

function readRoute() {
  const [page, ...rest] = location.hash.replace(/^#\/?/, "").split("?")[0].split("/");
  return { page: page || "home", id: rest.map(decodeURIComponent).join("/") };
}

const allowed = () => me.value ? PAGES.filter(([, , may]) => may()) : [];

function navigation() {
  const current = () => DETAILS[route.value.page] ?? route.value.page;
  return html`<nav aria-label=${t("navigation")}><ul>${() => allowed().map(([page]) =>
    html`<li><a href=${`#/${page}`}
      aria-current=${() => current() === page ? "page" : null}>${t(`page.${page}`)}</a></li>`)}
  </ul></nav>`;
}

function soulChooser() {
  return () => souls.value?.length > 1 && html`<label>${t("soul")}
    <select @change=${(e) => choose(e.target.value)}>${souls.value.map((s) =>
      html`<option value=${s.soul_id} ?selected=${soul() === s}>${name(s.name)}</option>`)}
    </select></label>`;
}

// An operator's token is of no user.
function userShown() {
  return () => acting.value && html`<span>${t("user")}: ${name(acting.value)}
    <button type="button" @click=${() => actFor("")}>${t("user.change")}</button></span>`;
}

function userPage() {
  const chosen = async ({ user_id }) => {
    const id = user_id.trim();
    await get(`/v1/souls?${new URLSearchParams({ user_id: id })}`);
    rememberUser(id);
    actFor(id);
  };
  return html`${heading(t("user.choose"))}<section class="card"><p>${t("user.text")}</p>
    ${form(t("user.use"), field(t("user"), "user_id",
      { required: true, maxLength: 128, autocomplete: "off" }), chosen)}
    ${recentUsers().length > 0 && html`<h2>${t("user.recent")}</h2><p class="actions">${
      recentUsers().map((id) => html`<button type="button"
        @click=${() => actFor(id)}>${name(id)}</button>`)}</p>`}</section>`;
}

function top() {
  return html`<header class="top"><strong>Soul</strong>${userShown()}${soulChooser()}
    <span class="end" role="status">${() => t(`live.${liveState.value}`)}</span>
    <label><span class="hidden">${t("language")}</span>
      <select id="language" @change=${(e) => setLanguage(e.target.value)}>${
        Object.entries(LANGUAGES).map(([code, text]) => html`<option value=${code}
          lang=${code} ?selected=${language.peek() === code}>${text}</option>`)}</select></label>
    </header>`;
}

// Over the page, which stays as it is.
function login() {
  let node;
  const submit = (event) => {
    event.preventDefault();
    const { token, stay } = event.target.elements;
    const given = token.value.trim();
    token.value = "";
    if (given)
      logIn(given, stay.checked);
  };
  const dialog = html`<dialog ref=${(n) => { node = n; }} aria-labelledby="login"
      @cancel=${(e) => e.preventDefault()}>
    <form @submit=${submit}><h2 id="login">${t("login")}</h2>
    <p>${t("login.text")}</p>${() => failure(loginNeeded.value)}
    <div class="field"><label for="token">${t("login.token")}</label>
      <input id="token" name="token" type="password" autocomplete="off" required></div>
    <p><input type="checkbox" id="stay" name="stay">
      <label for="stay">${t("login.stay")}</label></p>
    <button class="main">${t("login.button")}</button></form></dialog>`;
  effect(() => {
    const needed = loginNeeded.value !== null;
    queueMicrotask(() => {
      if (needed && !node.open && node.isConnected)
        node.showModal();
      else if (!needed && node.open)
        node.close();
    });
  });
  return dialog;
}

function help() {
  let node;
  const dialog = html`<dialog ref=${(n) => { node = n; }} aria-labelledby="keys"
      @close=${() => { helpShown.value = false; }}>
    <h2 id="keys">${t("keys")}</h2><table><tbody>
    ${() => allowed().map(([page, key]) =>
      html`<tr><td><kbd>g ${key}</kbd></td><td>${t(`page.${page}`)}</td></tr>`)}
    <tr><td><kbd>/</kbd></td><td>${t("filter")}</td></tr>
    <tr><td><kbd>j k</kbd></td><td>${t("keys.rows")}</td></tr>
    <tr><td><kbd>?</kbd></td><td>${t("keys.help")}</td></tr></tbody></table>
    <p class="actions"><button type="button" @click=${() => node.close()}>${t("close")}</button>
    <button type="button" @click=${() => { setKeys(false); node.close(); }}>${t("keys.off")}</button></p>
    </dialog>`;
  effect(() => {
    if (helpShown.value)
      queueMicrotask(() => node.showModal());
  });
  return dialog;
}

// Whether a page shows what is a user's.
const isOfUser = (page) =>
  PAGES.find(([p]) => p === (DETAILS[page] ?? page))[2] === isOwner;

async function showPage(main, { page, id }) {
  const names = [...PAGES.map(([p]) => p), ...Object.keys(DETAILS)];
  const wanted = names.includes(page) ? page : "home";
  let made;
  try {
    const module = isOfUser(wanted) && unchosen.peek() ? { default: userPage }
      : await import(`./pages/${wanted}.js`);
    if (route.peek().page !== page || route.peek().id !== id || !main.isConnected)
      return;
    endPage();
    [made, endPage] = scope(() => module.default(id));
  } catch (error) {
    console.info(error);
    [made, endPage] = [html`<h1 tabindex="-1">${t("upgraded")}</h1>
      <button class="main" @click=${() => location.reload()}>${t("reload")}</button>`, () => {}];
  }
  main.replaceChildren(made);
  main.dataset.page = wanted;
  document.title = `${t(`page.${DETAILS[wanted] ?? wanted}`)} · Soul`;
  if (!document.querySelector("dialog[open]"))
    main.querySelector("h1")?.focus();
}

function frame() {
  let main;
  const made = html`<a class="skip" href="#main" @click=${(e) => {
      e.preventDefault();
      main.querySelector("h1")?.focus();
    }}>${t("skip")}</a>
    ${top()}
    ${() => offline.value && html`<p class="banner" role="alert">${t("offline")}</p>`}
    ${() => liveGap.value > 0 && html`<p class="banner" role="alert">${t("gap")}</p>`}
    <div class="frame">${navigation()}<main id="main" ref=${(n) => { main = n; }}></main></div>
    ${login()}${help()}<p id="announcer" class="hidden" role="status"></p>`;
  effect(() => {
    const { page, id } = route.value;
    acting.value;
    unchosen.value;
    if (known.value || page === "settings")
      untracked(() => queueMicrotask(() => showPage(main, { page, id })));
  });
  return made;
}

async function start() {
  applyTheme();
  await loadWords();
  addEventListener("hashchange", () => { route.value = readRoute(); });
  addEventListener("online", () => { offline.value = false; });
  addEventListener("offline", () => { offline.value = true; });
  startStore();
  effect(() => {
    known.value ||= me.value !== null;
    if (me.value)
      unchosen.value = mustChooseUser();
  });
  startLive();
  startKeys((key) => {
    const page = allowed().find(([, k]) => k === key)?.[0];
    if (page)
      location.hash = `#/${page}`;
    return Boolean(page);
  }, () => { helpShown.value = true; });
  let endFrame = () => {};
  effect(() => {
    language.value;
    untracked(() => {
      endPage();
      endPage = () => {};
      endFrame();
      const [made, end] = scope(frame);
      endFrame = end;
      document.getElementById("app").replaceChildren(made);
    });
  });
}

await start();
