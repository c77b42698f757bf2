// store: what several pages share: the caller, the souls, the bodies, the choice.
import { effect, scope, signal } from "./dom.js";
import { acting, get, loginNeeded, randomId, token } from "./net.js";

const SOUL = "soul.chosen";
const USERS = "soul.users";

export const me = signal(null); // what GET /v1/me says; null: not known yet
export const souls = signal(null); // null: not known yet
export const soulsError = signal(null);
export const chosen = signal(localStorage.getItem(SOUL) ?? "");

export function choose(id) {
  chosen.value = id;
  localStorage.setItem(SOUL, id);
}

export const soul = () =>
  souls.value?.find(({ soul_id }) => soul_id === chosen.value) ?? souls.value?.[0];

export async function loadSouls() {
  try {
    souls.value = (await get("/v1/souls")).items;
    soulsError.value = null;
  } catch (error) {
    soulsError.value = error;
    if ([0, 429, 503].includes(error.status))
      setTimeout(loadSouls, 1000 * (error.wait || 3));
  }
}

export async function loadMe() {
  try {
    me.value = await get("/v1/me");
    if (isOwner() && user())
      loadSouls();
  } catch (error) {
    soulsError.value = error;
    if ([0, 429, 503].includes(error.status))
      setTimeout(loadMe, 1000 * (error.wait || 3));
  }
}

// Without authentication the caller may do everything.
const role = () => me.value?.role ?? "";
export const isOperator = () => role() === "operator";
export const isOwner = () => ["owner", "operator"].includes(role());
export const isProvisioner = () => ["provisioner", "operator"].includes(role());

// Whose souls are shown; "": an operator has not chosen yet.
export const user = () => acting.value || (me.value?.user_id ?? "");
export const mustChooseUser = () => isOperator() && !user();

// Users for whom this browser has acted, the newest first.
export const recentUsers = () => JSON.parse(localStorage.getItem(USERS) ?? "[]");

export function rememberUser(id) {
  localStorage.setItem(USERS,
    JSON.stringify([id, ...recentUsers().filter((u) => u !== id)].slice(0, 20)));
}

export function startStore() {
  scope(() => effect(() => {
    token.value;
    if (loginNeeded.value)
      return;
    me.value = null;
    souls.value = null;
    loadMe();
  }));
  scope(() => effect(() => {
    acting.value;
    if (!me.peek())
      return;
    souls.value = null;
    if (acting.peek())
      loadSouls();
  }));
}

// The id under which this browser chats without a body.
export function ownTerminal() {
  const key = "soul.terminal";
  if (!localStorage.getItem(key))
    localStorage.setItem(key, randomId("console-"));
  return localStorage.getItem(key);
}
