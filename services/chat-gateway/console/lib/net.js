// net: requests to the gateway, streams of events, and the access token.
//
// The token comes from the fragment of the address (…/#token=…), which no server
// sees, or from the login; it is in sessionStorage, or in localStorage if the user
// wants to stay logged in.
import { signal } from "./dom.js";

const KEY = "soul.token";
const USER = "soul.user";

export const token = signal(readToken());
// An error of a request without a valid token; null: none.
export const loginNeeded = signal(null);
// The user for whom an operator's requests are; "": none is named.
export const acting = signal(sessionStorage.getItem(USER) ?? "");
// What the server's clock is ahead, ms.
export let clockAhead = 0;

function readToken() {
  const [, given] = location.hash.match(/^#token=([^&]+)/) ?? [];
  if (given) {
    history.replaceState(null, "", location.pathname + "#/");
    sessionStorage.setItem(KEY, decodeURIComponent(given));
  }
  return sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY) ?? "";
}

export function logIn(text, stay) {
  sessionStorage.removeItem(KEY);
  localStorage.removeItem(KEY);
  if (text)
    (stay ? localStorage : sessionStorage).setItem(KEY, text);
  actFor("");
  token.value = text;
  loginNeeded.value = null;
}

export function actFor(user) {
  sessionStorage.setItem(USER, user);
  acting.value = user;
}

// Routes that are of no user, or whose path names one.
const OF_NO_USER = /^\/v1\/(me$|events|live|identities|users\/|engines|star\/|status|audit)/;

// A request in the name of the user for whom an operator acts.
function forUser(method, path, body) {
  const user = acting.peek();
  // An identity's user_id is a limit of the identity.
  if (!user || OF_NO_USER.test(path) || (method === "POST" && path === "/v1/terminals"))
    return [path, body];
  return [`${path}${path.includes("?") ? "&" : "?"}${new URLSearchParams({ user_id: user })}`,
    body === undefined ? undefined : { user_id: user, ...body }];
}

// What a request failed with: text is the server's.
export class Failure extends Error {
  constructor(status, { error, code, trace_id } = {}, wait = 0) {
    super(error ?? code ?? "");
    this.status = status; // 0: no response
    this.code = code ?? "";
    this.trace = trace_id ?? "";
    this.wait = wait; // seconds of Retry-After
    // "/name: too long" and "cursor: …" name what is wrong.
    const [, path] = this.message.match(/^\/?([\w./-]+): /) ?? [];
    this.field = path?.split("/").at(-1) ?? "";
  }
}

function headers(more) {
  const all = { ...more };
  if (token.peek())
    all.Authorization = `Bearer ${token.peek()}`;
  return all;
}

async function send(method, path, body, more, abort) {
  const sent = token.peek();
  const [url, content] = forUser(method, path, body);
  let response;
  try {
    response = await fetch(url, {
      method,
      headers: headers({
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...more,
      }),
      body: content === undefined ? undefined : JSON.stringify(content),
      signal: abort,
      cache: "no-store",
      credentials: "omit",
    });
  } catch (error) {
    if (error.name === "AbortError")
      throw error;
    throw new Failure(0);
  }
  const date = Date.parse(response.headers.get("Date") ?? "");
  if (date && Math.abs(date - Date.now()) > 2000)
    clockAhead = date - Date.now();
  if (response.ok)
    return response;
  const failure = new Failure(response.status,
    await response.json().catch(() => ({})),
    Number(response.headers.get("Retry-After")) || 0);
  if (response.status === 401 && sent === token.peek())
    loginNeeded.value = failure;
  throw failure;
}

export async function call(method, path, body) {
  return (await send(method, path, body)).json();
}

export const get = (path) => call("GET", path);

export async function getText(path) {
  return (await send("GET", path)).text();
}

export function query(parameters) {
  const given = Object.entries(parameters).filter(([, v]) => v !== "" && v != null);
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

// The events of a text/event-stream, which may be cut into any chunks.
export class EventParser {
  #rest = "";
  #event = { name: "", id: "", data: [] };

  push(text) {
    const events = [];
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop();
    for (const line of lines.map((l) => l.replace(/\r$/, "")))
      this.#line(line, events);
    return events;
  }

  #line(line, events) {
    const [, name, value] = line.match(/^([a-z]+): ?(.*)$/s) ?? [];
    const e = this.#event;
    if (line === "") {
      if (e.data.length)
        events.push({ name: e.name, id: e.id, data: e.data.join("\n") });
      this.#event = { name: "", id: "", data: [] };
    } else if (name === "event") {
      e.name = value;
    } else if (name === "id") {
      e.id = value;
    } else if (name === "data") {
      e.data.push(value);
    }
  }
}

// Reads a stream until its end: onEvent({name, id, data}), onOpen().
export async function stream(method, path, { body, abort, onOpen, onEvent }) {
  const response = await send(method, path, body,
    { Accept: "text/event-stream" }, abort);
  onOpen?.();
  const parser = new EventParser();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done)
        return;
      parser.push(value).forEach(onEvent);
    }
  } catch (error) {
    if (error.name === "AbortError")
      throw error;
    throw new Failure(0);
  }
}

// Milliseconds before attempt n (0, 1, …): doubled from 0.5 s to 15 s, ± 50 %.
export function backOff(n, random = Math.random()) {
  return Math.min(500 * 2 ** n, 15000) * (0.5 + random);
}

export function randomId(prefix) {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return prefix + [...bytes].map((b) => b.toString(16).padStart(2, "0")).join("");
}
