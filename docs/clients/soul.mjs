#!/usr/bin/env node
// A client of Soul in one file, without dependencies: Node 18, or a browser.
//
//   import { Soul } from "./soul.mjs";
//   const nova = new Soul("http://127.0.0.1:9010", { token: undefined });
//   for await (const text of nova.chat("你好", { session: "s1" }))
//     process.stdout.write(text);
//
// As a program: soul.mjs chat TEXT | live [TYPES] | say TEXT | alarms [WHEN TEXT],
// with SOUL_URL and SOUL_TOKEN in the environment.

const ENDS = ["conversation.completed", "conversation.failed",
  "user.input.required"];
const enc = encodeURIComponent;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// An error of the server; retryAfter is in seconds.
export class SoulError extends Error {
  constructor(status, code, text, retryAfter) {
    super(`${status} ${code}: ${text}`);
    Object.assign(this, { status, code, retryAfter });
  }
}

export class Soul {
  constructor(url, { token, user, retries = 10 } = {}) {
    Object.assign(this, { url: url.replace(/\/$/, ""), token, user, retries });
  }

  // ---- requests ----

  async open(method, path, { body, query = {}, accept, signal } = {}) {
    const q = new URLSearchParams();
    for (const [k, v] of Object.entries({ ...query, user_id: this.user }))
      if (v !== undefined)
        q.set(k, v);
    const headers = { Accept: accept ?? "application/json" };
    if (this.token)
      headers.Authorization = `Bearer ${this.token}`;
    if (body !== undefined)
      headers["Content-Type"] = "application/json";
    const r = await fetch(`${this.url}${path}${q.size > 0 ? `?${q}` : ""}`,
      { method, headers, signal, body: body && JSON.stringify(body) });
    if (r.ok)
      return r;
    const m = await r.json().catch(() => ({}));
    const wait = r.headers.get("Retry-After");
    throw new SoulError(r.status, m.code ?? "", m.error ?? r.statusText,
      wait === null ? undefined : Number(wait));
  }

  async request(method, path, options) {
    return (await this.open(method, path, options)).json();
  }

  // [id, event] of a stream, until it ends or is cut.
  async *events(method, path, options) {
    const abort = new AbortController();
    const r = await this.open(method, path,
      { ...options, accept: "text/event-stream", signal: abort.signal });
    const decoder = new TextDecoder();
    const reader = r.body.getReader();
    let text = "", id, data = [];
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done)
          return;
        text += decoder.decode(value, { stream: true });
        const lines = text.split(/\r?\n/);
        text = lines.pop();
        for (const line of lines) {
          if (line.startsWith("id:")) {
            id = line.slice(3).trim();
          } else if (line.startsWith("data:")) {
            data.push(line.slice(5).replace(/^ /, ""));
          } else if (line === "" && data.length > 0) {
            yield [id, JSON.parse(data.join("\n"))];
            data = [];
          }
        }
      }
    } finally {
      abort.abort();
    }
  }

  // ---- a conversation ----

  // The first body that is bound, to that soul if one is named.
  async bodyOf(soul) {
    const { items } = await this.request("GET", "/v1/terminals");
    const t = items.find((i) => soul === undefined || i.soul_id === soul);
    if (t === undefined)
      throw new SoulError(409, "no_body", "bind a body first");
    return t.terminal_id;
  }

  // Pieces of the reply. A connection that is cut is resumed.
  async *chat(text, { session = "client", terminal, soul } = {}) {
    const body = {
      session_id: session, stream: true, user_id: this.user, soul_id: soul,
      terminal_id: terminal ?? await this.bodyOf(soul),
      inputs: [{
        type: "keyboard_text", text, input_id: `js-${crypto.randomUUID()}`,
      }],
    };
    let run, last, message, sent = 0;
    for (let attempt = 0; attempt <= this.retries; attempt++) {
      // Before its first event, the same input is a retry of the turn.
      const source = run === undefined
        ? this.events("POST", "/v1/chat", { body })
        : this.events("GET", `/v1/sessions/${enc(session)}/events`,
          { query: { cursor: last } });
      try {
        for await (const [id, e] of source) {
          run ??= e.run_id;
          last = id ?? last;
          if (e.run_id !== run)
            continue;
          const d = e.data;
          if (d.message_id !== undefined && d.message_id !== message)
            [message, sent] = [d.message_id, 0];
          const piece = e.type === "assistant.message.final"
            ? d.text.slice(sent) : d.text_delta ?? "";
          sent += piece.length;
          if (piece !== "")
            yield piece;
          if (e.type === "conversation.failed")
            throw new SoulError(502, d.error.code, d.error.message ?? "");
          if (ENDS.includes(e.type))
            return;
        }
      } catch (error) {
        if (error instanceof SoulError)
          throw error;
      }
      await sleep(Math.min(100 * 2 ** attempt, 5000));
    }
    throw new SoulError(503, "cut", "the connection is lost again and again");
  }

  // ---- the rest ----

  // [position, event] as they happen, without end and without gaps.
  async *live({ types, cursor } = {}) {
    for (let wait = 100;; wait = Math.min(2 * wait, 10000)) {
      try {
        for await (const [id, e] of this.events("GET", "/v1/live",
          { query: { types, cursor } })) {
          cursor = id ?? cursor;
          wait = 100;
          yield [cursor, e];
        }
      } catch (error) {
        if (error instanceof SoulError)
          throw error;
      }
      await sleep(wait);
    }
  }

  async say(text, { terminal } = {}) {
    const t = terminal ?? await this.bodyOf();
    return this.request("POST", `/v1/terminals/${enc(t)}/say`,
      { body: { text } });
  }

  async alarms() {
    return (await this.request("GET", "/v1/alarms")).alarms;
  }

  async setAlarm(when, text = "") {
    return (await this.request("POST", "/v1/alarms", { body: { when, text } }))
      .alarm;
  }

  async cancelAlarm(alarmId) {
    await this.request("DELETE", `/v1/alarms/${enc(alarmId)}`);
  }
}

async function main([command, ...args]) {
  const { SOUL_URL = "http://127.0.0.1:9010", SOUL_TOKEN } = process.env;
  const soul = new Soul(SOUL_URL, { token: SOUL_TOKEN });
  if (command === "chat") {
    for await (const piece of soul.chat(args[0]))
      process.stdout.write(piece);
    console.log();
  } else if (command === "live") {
    for await (const [position, event] of soul.live({ types: args[0] }))
      console.log(position, JSON.stringify(event));
  } else if (command === "say") {
    console.log((await soul.say(args[0])).push_id);
  } else if (command === "alarms" && args.length > 0) {
    console.log((await soul.setAlarm(...args)).alarm_id);
  } else if (command === "alarms") {
    for (const a of await soul.alarms())
      console.log(a.alarm_id, a.next_at ?? "-", a.text ?? "");
  } else {
    console.error("usage: soul.mjs chat TEXT | live [TYPES] | say TEXT | " +
      "alarms [WHEN TEXT]");
    process.exitCode = 1;
  }
}

if (globalThis.process?.argv[1]?.endsWith("soul.mjs"))
  await main(process.argv.slice(2));
