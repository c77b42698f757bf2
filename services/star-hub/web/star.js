// star.js: a client of the Star Protocol 1.0, for browsers and Node.  It needs
// nothing else.
//
//   import { connect } from "./star.js";
//   const me = connect("ws://127.0.0.1:9014/env/demo_world/agent/agent_001");
//   me.on("event", (event, message) => console.log(event.event, event.data));
//   const outcome = await me.action(
//       { id: "demo_world", type: "environment" }, "move", { x: 1 });
//
// A page without modules of its own writes <script type="module" src="/star.js">
// and uses the global Star.
//
// Delivery: a message is sent at most once, and never again by this client.  The
// promise of one whose fate is unknown, because the connection broke, is rejected.

// The hub is away, or asks to come back: all else is the caller's to correct.
const RECONNECT = new Set([1001, 1006, 1011, 1012, 1013]);
// A connection that lasted so long was a good one: the next wait is short again.
const STABLE_MS = 10000;
// Messages that are sent in this time are confirmed by one ping.
const CONFIRM_MS = 20;
const CONNECT_MS = 10000;

const HUB = { id: "hub", type: "hub" };

// code, type and details are those of the protocol's error messages.
export class StarError extends Error {
  constructor(code, type, text, details = {}) {
    super(text);
    this.name = "StarError";
    this.code = code;
    this.type = type;
    this.details = details;
  }
}

function lost(type, text) {
  return new StarError("CONNECTION_LOST", type, text);
}

// { id, type } and, of an agent, env.
function identityOf(url) {
  const m = url.pathname.match(
    /\/(?:env\/([^/]+)(?:\/agent\/([^/]+))?|human\/([^/]+))$/);
  if (m === null)
    throw new StarError("VALIDATION_ERROR", "validation_error",
      `${url.pathname}: must end with /env/{env_id}, ` +
      "/env/{env_id}/agent/{agent_id} or /human/{human_id}");
  const [env, agent, human] = m.slice(1).map((s) => s && decodeURIComponent(s));
  if (human !== undefined)
    return { id: human, type: "human" };
  return agent !== undefined
    ? { id: agent, type: "agent", env }
    : { id: env, type: "environment", env };
}

// Whether the cursor a, "<gen>-<seq>", is newer than b.
function isNewer(a, b) {
  const [gen, seq] = a.split("-").map(Number);
  const [gen0, seq0] = b.split("-").map(Number);
  return gen > gen0 || (gen === gen0 && seq > seq0);
}

class Star {
  identity;             // { id, type } of this client
  state = "connecting"; // open, waiting (to connect again), closed
  hub = null;           // its name

  #url;
  #options;
  #socket = null;
  #listeners = new Map(); // event: Set of functions
  #retry;                 // timer
  #tick;                  // timer of heartbeats
  #confirm;               // timer of the next ping
  #attempt = 0;           // connections that failed in a row
  #ever = false;          // one has succeeded
  #greeted = false;       // the first heartbeat came
  #since = 0;             // when
  #heard = 0;             // when the last frame came
  #session = null;
  #frames = 0; // that came in the session, all but heartbeats
  #cursors = new Map(); // environment: cursor of its last broadcast
  #waiting = new Map(); // environment: its broadcasts, while history is read
  #joined = new Set();  // environments, of a human
  #unconfirmed = new Map(); // message_id: { resolve, reject }
  #calls = new Map();       // the same of an action, and recipient, timer
  #prefix = Math.random().toString(36).slice(2, 10);
  #n = 0;

  constructor(url, options) {
    this.#options = {
      WebSocket: globalThis.WebSocket,
      timeout: 30000,   // of an outcome, ms
      heartbeat: 30000, // ms; after twice that in silence it is dead
      backoff: 500,     // the first wait, ms; it doubles up to …
      backoffMax: 15000,
      attempts: Infinity, // that may fail in a row
      ...options,
    };
    this.#url = new URL(url, globalThis.location?.href);
    this.#url.protocol = this.#url.protocol.replace(/^http/, "ws");
    this.identity = identityOf(this.#url);
    if (this.#options.cursor !== undefined)
      this.#cursors.set(this.identity.env, this.#options.cursor);
    this.#dial();
  }

  // ---- events ----

  // open ({ resumed, lost, hub }), close ({ code, reason, retryMs }), gap ({ why,
  // … }), error (a StarError), message (each one), and its payload's type: action,
  // outcome, event, stream (payload, message).  Returns a function that undoes it.
  on(name, listener) {
    if (!this.#listeners.has(name))
      this.#listeners.set(name, new Set());
    this.#listeners.get(name).add(listener);
    return () => this.off(name, listener);
  }

  off(name, listener) {
    this.#listeners.get(name)?.delete(listener);
  }

  #emit(name, ...args) {
    for (const listener of [...(this.#listeners.get(name) ?? [])])
      listener(...args);
  }

  // ---- sending ----

  // Resolves when the hub has taken the message without an error so far; rejected
  // with the hub's error, or CONNECTION_LOST.  An error of another hub may come
  // later, as the event "error".
  send(recipient, payload, members = {}) {
    const id = members.message_id ?? this.#id();
    const sent = new Promise((resolve, reject) => {
      if (this.state !== "open") {
        reject(lost("not_connected",
          "there is no connection: it was not sent"));
        return;
      }
      this.#write({ type: "message", recipient, payload,
        message_id: id, ...members });
      this.#unconfirmed.set(id, { resolve, reject });
      this.#confirmSoon(CONFIRM_MS);
    });
    // A caller may ignore it: errors of the hub are events, too.
    sent.catch(() => {});
    return sent;
  }

  // Resolves with the outcome, whatever its status.
  action(recipient, action, parameters = {}, { timeout } = {}) {
    return this.#call(recipient,
      { type: "action", action, id: this.#id(), parameters }, timeout);
  }

  // A request to the hub, such as get_members; resolves with its outcome.
  request(stream, data = {}, { timeout } = {}) {
    return this.#call(HUB,
      { type: "stream", stream, id: this.#id(), data }, timeout);
  }

  event(recipient, event, data = {}) {
    return this.send(recipient,
      { type: "event", id: this.#id(), event, data });
  }

  // The outcome of an action; message is what the listener got.
  outcome(message, outcome) {
    return this.send(message.sender, { type: "outcome",
      id: message.payload.id, outcome, outcome_type: "dict" });
  }

  // Of a human; a connection that is not resumed joins again.
  async join(env_id) {
    const outcome = await this.request("join_environment", { env_id });
    this.#joined.add(env_id);
    return outcome;
  }

  async leave(env_id) {
    this.#joined.delete(env_id);
    return this.request("leave_environment", { env_id });
  }

  // The cursor of an environment's last broadcast that came; undefined: none.
  cursor(env_id = this.identity.env) {
    return this.#cursors.get(env_id);
  }

  close() {
    if (this.state === "closed")
      return;
    const socket = this.#socket;
    this.#finish(lost("closed", "the client has closed"));
    socket?.close(1000);
    this.#emit("close", { code: 1000, reason: "" });
  }

  #id() {
    return `${this.#prefix}-${++this.#n}`;
  }

  #write(message) {
    const { id, type } = this.identity;
    this.#socket.send(JSON.stringify(
      { ...message, sender: { id, type },
        timestamp: new Date().toISOString() }));
  }

  #call(recipient, payload, timeout = this.#options.timeout) {
    const { id } = payload;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#settle(id, "reject",
        new StarError("ACTION_FAILED", "timeout",
          `no outcome within ${timeout} ms: not confirmed`)),
        timeout);
      this.#calls.set(id, { resolve, reject, timer, recipient });
      this.send(recipient, payload, { message_id: id })
        .catch((error) => this.#settle(id, "reject", error));
    });
  }

  #settle(id, how, value) {
    const call = this.#calls.get(id);
    clearTimeout(call?.timer);
    this.#calls.delete(id);
    call?.[how](value);
    return call !== undefined;
  }

  // The hub handles messages in order: what was sent before a ping that has its
  // pong was taken, or its error came before.
  #confirmSoon(ms) {
    this.#confirm ??= setTimeout(async () => {
      const ids = [...this.#unconfirmed.keys()];
      const id = this.#id();
      const pong = new Promise((resolve, reject) =>
        this.#calls.set(id, { resolve, reject, recipient: HUB }));
      this.#write({ type: "message", recipient: HUB, message_id: id,
        payload: { type: "action", action: "ping", id,
          parameters: {} } });
      const error = await pong.then(() => null, (e) => e);
      if (this.state !== "open")
        return;
      this.#confirm = undefined;
      if (error === null)
        for (const each of ids)
          this.#confirmed(each, "resolve", each);
      if (this.#unconfirmed.size > 0)
        this.#confirmSoon(
          error?.details.retry_after_ms ?? CONFIRM_MS);
    }, ms);
  }

  #confirmed(id, how, value) {
    const sent = this.#unconfirmed.get(id);
    this.#unconfirmed.delete(id);
    sent?.[how](value);
    return sent !== undefined;
  }

  // ---- receiving ----

  #receive(text) {
    const message = JSON.parse(text);
    this.#heard = Date.now();
    // Before any listener, which may throw.
    if (!this.#greeted && this.#greet(message))
      return;
    if (message.type !== "heartbeat" && message.type !== "auth_result")
      this.#frames++;
    if (message.sender.type === "environment" &&
        /^\d+-\d+$/.test(message.cursor))
      this.#broadcast(message);
    else if (message.type === "error")
      this.#failed(message.payload ?? {});
    else if (message.type === "message")
      this.#dispatch(message);
  }

  #dispatch(message) {
    const { payload, sender } = message;
    if (payload?.type === "outcome") {
      const to = this.#calls.get(payload.id)?.recipient;
      if (to !== undefined && to.type === sender.type &&
          (to.type === "hub" || to.id === sender.id)) {
        this.#confirmed(payload.id, "resolve", payload.id);
        this.#settle(payload.id, "resolve", payload.outcome);
      }
    }
    if (payload?.event === "messages_dropped" && sender.type === "hub")
      this.#emit("gap", { why: "messages_dropped", ...payload.data });
    this.#emit("message", message);
    if (["action", "outcome", "event", "stream"].includes(payload?.type))
      this.#emit(payload.type, payload, message);
  }

  // Of an environment, now or from its history: in order, and each once.
  #broadcast(message) {
    const { cursor, sender, recipient } = message;
    const last = this.#cursors.get(sender.id);
    const waiting = this.#waiting.get(sender.id);
    if (waiting !== undefined) {
      waiting.push(message);
    } else if (last === undefined || isNewer(cursor, last)) {
      this.#cursors.set(sender.id, cursor);
      // History has those to members of all types.
      if ([this.identity.type, "hub", undefined].includes(recipient.type))
        this.#dispatch(message);
    }
  }

  // What came after the last broadcast, page by page.
  async #catchUp(env_id, socket) {
    const found = [];
    this.#waiting.set(env_id, []);
    try {
      let page = { cursor: this.#cursors.get(env_id), more: true };
      while (page.more) {
        const after = page.cursor;
        page = await this.request("get_history", { env_id, after, limit: 100 });
        found.push(...page.events);
        if (page.gap === true)
          this.#emit("gap", { why: "history_expired", env_id });
      }
    } catch {
      this.#emit("gap", { why: "history_unknown", env_id });
    }
    // A newer connection does this again.
    if (this.#socket !== socket)
      return;
    found.push(...this.#waiting.get(env_id));
    this.#waiting.delete(env_id);
    for (const message of found)
      this.#broadcast(message);
  }

  #failed({ error_code, error_type, message, details }) {
    const error = new StarError(error_code, error_type, message, details ?? {});
    const id = error.details.original_message_id;
    const known = [this.#confirmed(id, "reject", error),
      this.#settle(id, "reject", error)];
    if (!known.includes(true) || this.#listeners.get("error")?.size > 0)
      this.#error(error);
  }

  // An error must not go unseen.
  #error(error) {
    if (!(this.#listeners.get("error")?.size > 0))
      console.error(error);
    this.#emit("error", error);
  }

  // ---- the connection ----

  #dial() {
    const url = new URL(this.#url);
    const cursor = this.#cursors.get(this.identity.env);
    const { token, WebSocket } = this.#options;
    if (this.#session !== null) {
      url.searchParams.set("session", this.#session);
      url.searchParams.set("last", this.#frames);
    }
    if (cursor !== undefined && this.identity.type === "agent")
      url.searchParams.set("cursor", cursor);
    const value = typeof token === "function" ? token() : token;
    const protocols = ["star.v1"];
    if (value !== undefined && value !== "")
      protocols.push(`soul.bearer.${value}`);
    const socket = new WebSocket(url.href, protocols);
    this.#socket = socket;
    this.#greeted = false;
    this.#heard = Date.now();
    socket.onmessage = ({ data }) => {
      if (socket === this.#socket)
        this.#receive(data);
    };
    socket.onclose = ({ code, reason }) => this.#ended(socket, code, reason);
    // onclose follows; in some versions of Node not if there was no upgrade.
    socket.onerror = () => {
      if (!this.#greeted)
        setTimeout(() => this.#ended(socket, 1006, ""), 0);
    };
    this.#setTick(socket, CONNECT_MS);
  }

  // Heartbeats; without any frame for too long, the connection is dead, though the
  // socket may not know.
  #setTick(socket, ms) {
    clearInterval(this.#tick);
    this.#tick = setInterval(() => {
      if (!this.#greeted || Date.now() - this.#heard > 2 * ms) {
        socket.close();
        this.#ended(socket, 1006, "nothing was received");
      } else if (Date.now() - this.#heard >= ms / 2) {
        this.#write({ type: "heartbeat", recipient: HUB,
          payload: {} });
      }
    }, ms);
  }

  // The first heartbeat.
  #greet({ type, payload }) {
    if (type !== "heartbeat")
      return false;
    const again = this.#ever;
    const resumed = again && payload.resumed === true;
    this.#greeted = this.#ever = true;
    this.#since = Date.now();
    this.state = "open";
    this.hub = payload.hub;
    this.#session = payload.resume?.ms > 0 ? payload.session : null;
    this.#setTick(this.#socket, this.#options.heartbeat);
    const open = { resumed, hub: payload.hub };
    if (!resumed) {
      this.#frames = 0;
      this.#abandon(lost("delivery_unknown",
        "the connection was not resumed: the outcome is unknown"));
    }
    if (again && !resumed)
      open.lost = payload.lost ?? "unknown";
    this.#emit("open", open);
    if (open.lost !== undefined && open.lost !== 0)
      this.#emit("gap", { why: "not_resumed", lost: open.lost });
    if (payload.gap === true)
      this.#emit("gap", { why: "history_expired",
        env_id: this.identity.env });
    // What the hub sends of it now is not all.
    if (payload.more === true)
      this.#catchUp(this.identity.env, this.#socket);
    if (!resumed)
      for (const env_id of this.#joined)
        this.#rejoin(env_id, this.#socket, this.#options.backoff);
    return true;
  }

  // After a hub's end the environment may come back later than we do.
  async #rejoin(env_id, socket, wait) {
    const { type, status } =
      await this.request("join_environment", { env_id }).catch((error) => error);
    if (status === "success" && this.#cursors.has(env_id))
      this.#catchUp(env_id, socket);
    if (type === "env_not_found")
      setTimeout(() => {
        if (this.#joined.has(env_id) && this.#socket === socket)
          this.#rejoin(env_id, socket,
            Math.min(2 * wait, this.#options.backoffMax));
      }, wait);
  }

  // Actions that were sent, and whose outcome will not come.
  #abandon(error) {
    for (const id of [...this.#calls.keys()])
      this.#settle(id, "reject", error);
  }

  #ended(socket, code, reason) {
    if (socket !== this.#socket)
      return;
    const opened = this.#greeted;
    const { attempts, backoff, backoffMax } = this.#options;
    const unknown = lost("delivery_unknown",
      "the connection broke: whether it was delivered is unknown");
    this.#release(unknown);
    if (opened && Date.now() - this.#since >= STABLE_MS)
      this.#attempt = 0;
    const wait = Math.min(backoff * 2 ** this.#attempt, backoffMax) *
      (0.5 + Math.random() / 2);
    this.#attempt++;
    const again = RECONNECT.has(code) && this.#attempt <= attempts;
    const retryMs = again ? Math.round(wait) : undefined;
    if (again) {
      this.state = "waiting";
      this.#retry = setTimeout(() => this.#dial(), wait);
    } else {
      this.#finish(unknown);
    }
    if (opened)
      this.#emit("close", { code, reason, retryMs });
    else
      this.#error(new StarError(
        this.#ever ? "RECONNECTION_FAILED" : "CONNECTION_FAILED",
        "connection_failed",
        `cannot connect: ${reason || `close code ${code}`}`,
        { attempt: this.#attempt, retryMs }));
  }

  // What was taken waits for its outcome; what may not have been is rejected.
  #release(error) {
    this.#socket = null;
    this.#greeted = false;
    this.#waiting.clear();
    clearInterval(this.#tick);
    clearTimeout(this.#confirm);
    this.#confirm = undefined;
    for (const id of [...this.#unconfirmed.keys()])
      this.#confirmed(id, "reject", error);
    for (const [id, { timer }] of [...this.#calls])
      if (timer === undefined)
        this.#settle(id, "reject", error);
  }

  #finish(error) {
    clearTimeout(this.#retry);
    this.state = "closed";
    this.#release(error);
    this.#abandon(error);
  }
}

// Connect to ws://host:port/env/{env_id}, /env/{env_id}/agent/{agent_id} or
// /human/{human_id}; a page may leave out the host.  options: token, a string or a
// function that returns one; cursor, where an agent's history begins; WebSocket, for
// a Node without it; and what the constructor has.
export function connect(url, options = {}) {
  return new Star(url, options);
}

globalThis.Star = { connect, StarError };
