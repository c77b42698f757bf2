// session: a run, as its owner sees it over HTTP, and what a case asserts of it.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { processesOf, until } from "./service.mjs";

const END = /^(conversation.(completed|failed)|user.input.required)$/;
const FINAL = /^conversation.(completed|failed)$/;
// Longest attempt: engines retry failed calls for minutes.
const ATTEMPT_MS = 300000;
// What has been killed needs a moment to go.
const GONE_MS = 5000;

let sessions = 0;

// An event as a case writes it; adjacent equal ones are one.
function brief({ type, data }) {
  switch (type) {
  case "conversation.started": return "started";
  case "assistant.message.delta": return "delta";
  case "assistant.message.final": return "final";
  case "user.input.required": return `asks ${data.kind}`;
  case "user.input.replied": return "replied";
  case "conversation.completed": return `completed ${data.reason_code}`;
  case "conversation.failed": return `failed ${data.error.category}/${data.error.code}`;
  case "diagnostic.warning": return `warning ${data.code}`;
  default: return type;
  }
}

function filesBelow(dir) {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((e) => e.isFile()).map((e) => join(e.parentPath ?? e.path, e.name));
}

export class Session {
  constructor(service) {
    this.service = service;
    // The simulated model knows by it whose a request is.
    this.tag = `c${++sessions}`;
    this.ids = [];
  }

  get id() {
    return this.ids.at(-1);
  }

  async start(prompt, more = {}) {
    const { status, json } = await this.service.request("POST", "/v1/runs",
      { engine: this.service.engine, prompt: `${prompt} CASE:${this.tag}`, ...more });
    assert.equal(status, 202, JSON.stringify(json));
    this.ids.push(json.run_id);
    this.events = [];
    this.from = 0;
    this.attempt = 1;
    this.closed = false;
    this.stream = this.read(this.events).finally(() => { this.closed = true; });
    this.stream.catch(() => {});
  }

  // A run that continues this one.
  async resume(prompt) {
    await this.start(prompt, { resumes: this.id });
  }

  // Answers the question of the last event; the next attempt begins.
  async reply(content) {
    const asked = this.events.at(-1).data.interaction_id;
    this.nextEvents();
    const { status, json } = await this.service.request("POST", `/v1/runs/${this.id}/reply`,
      { interaction_id: asked, content });
    assert.equal(status, 200, JSON.stringify(json));
    this.attempt++;
  }

  // From here on only what follows counts.
  nextEvents() {
    this.from = this.events.length;
  }

  // Whether it was accepted.
  async cancel() {
    const { status, json } = await this.service.request("POST", `/v1/runs/${this.id}/cancel`);
    assert.equal(status, 200, JSON.stringify(json));
    return json.accepted;
  }

  async record() {
    const { status, json } = await this.service.request("GET", `/v1/runs/${this.id}`);
    assert.equal(status, 200, JSON.stringify(json));
    return json;
  }

  // All events from the first on, until the server ends the response.
  async read(into) {
    const res = await fetch(`${this.service.url}/v1/runs/${this.id}/events?cursor=0`);
    assert.equal(res.status, 200);
    let text = "";
    for await (const chunk of res.body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
        const lines = text.slice(0, end).split("\n");
        const field = (name) => lines.find((l) => l.startsWith(`${name}: `))?.slice(name.length + 2);
        if (field("data") === undefined)
          continue;
        this.service.check(field("data"), `events of ${this.id}`);
        into.push({ id: field("id"), ...JSON.parse(field("data")) });
      }
    }
    return into;
  }

  // Requests of this case to the model.
  requests() {
    return this.service.sim.requests.filter((q) => q.tag === this.tag);
  }

  // Waits until the model has been called for a scenario.
  called(scenario) {
    return until(`a request for ${scenario}`,
      () => this.requests().some((q) => q.scenario === scenario));
  }

  // Waits until there is an event of a type.
  has(type) {
    return until(type, () => this.events.some((e) => e.type === type));
  }

  runs(command) {
    return until(command, () => processesOf(this.id, command).length > 0);
  }

  // The events of the newest attempt.
  get fcmp() {
    return this.events.slice(this.from);
  }

  // Waits for the end of the attempt, and checks what holds for every one.
  async end() {
    await until(`the end of ${this.id}`, () => this.closed ||
      this.fcmp.some((e) => END.test(e.type)), ATTEMPT_MS).catch(async (error) => {
      error.message += `\n${await this.shown()}`;
      throw error;
    });
    if (FINAL.test(this.events.at(-1)?.type))
      await this.stream;
    this.rec = await this.record();
    this.rasp = this.attempt <= this.rec.attempt ? this.spoolEvents() : [];
    await this.checkEvents();
    await this.checkRecord();
    if (this.rec.attempt >= this.attempt)
      await this.checkBytes();
    await until(`no process of ${this.id}`, () => processesOf(this.id).length === 0, GONE_MS);
    for (const id of this.ids)
      for (const path of filesBelow(join(this.service.runs, id)))
        this.service.check(readFileSync(path, "latin1"), path);
    const headers = this.requests().map((q) => q.headers);
    assert(headers.every((h) => Object.values(h).every((v) => !/^(Bearer )?none$/.test(v))),
      "the engine's dummy key has reached the provider");
  }

  async checkEvents() {
    const shown = await this.shown();
    assert.deepEqual(this.events.map((e) => e.seq), this.events.map((_, i) => i + 1), shown);
    assert(this.events.every((e) => e.id === String(e.seq) && e.run_id === this.id), shown);
    const ends = this.fcmp.filter((e) => END.test(e.type));
    assert.equal(ends.length, 1, `exactly one end\n${shown}`);
    assert.equal(this.events.at(-1), ends[0], `the end is the last event\n${shown}`);
    if (FINAL.test(ends[0].type))
      assert.deepEqual(await this.read([]), this.events, "read again");
  }

  async checkRecord() {
    const { type, data } = this.events.at(-1), rec = this.rec;
    const state = type === "user.input.required" ? "waiting_user"
      : type === "conversation.completed" ? "succeeded"
        : data.error.code === "CANCELED" ? "canceled" : "failed";
    assert.equal(rec.state, state, JSON.stringify(rec));
    assert.equal(rec.events, this.events.length);
    assert.equal(rec.interaction?.interaction_id, data.interaction_id);
    assert.equal(rec.facts?.reason_code, data.reason_code);
    assert.deepEqual(rec.facts?.error && { retryable: false, ...rec.facts.error },
      data.error && { retryable: false, ...data.error });
    assert.equal(rec.session_id, this.events.at(-1).session_id);
  }

  spoolEvents() {
    return readFileSync(join(this.service.runs, this.id, String(this.attempt), "events.jsonl"),
      "utf8").trim().split("\n").map((line) => JSON.parse(line));
  }

  async output(stream) {
    const parts = [];
    for (let from = 0; ;) {
      const { status, json } = await this.service.request("GET",
        `/v1/runs/${this.id}/logs?stream=${stream}&attempt=${this.attempt}&from=${from}`);
      assert.equal(status, 200, JSON.stringify(json));
      parts.push(Buffer.from(json.data, "base64"));
      from = json.next;
      if (from >= json.size)
        return Buffer.concat(parts);
    }
  }

  // Every byte of both streams is in the raw_ref of an event of RASP.
  async checkBytes() {
    for (const stream of ["stdout", "stderr"]) {
      const bytes = await this.output(stream);
      this.service.check(bytes.toString("latin1"), stream);
      const spans = this.rasp.map((e) => [e.raw_ref[`${stream}_from`], e.raw_ref[`${stream}_to`]])
        .sort((a, b) => a[0] - b[0]);
      let at = 0;
      for (const [from, to] of spans)
        if (from <= at)
          at = Math.max(at, to);
      assert.equal(at, bytes.length, `${stream}: bytes from ${at} on are in no event`);
    }
  }

  // The events of the attempt, without warnings that engines give on their own.
  async expect(...want) {
    const all = this.fcmp.map(brief).filter((b) => !b.startsWith("warning"));
    const is = all.filter((b, i) => b !== all[i - 1]);
    assert.deepEqual(is, want, await this.shown());
  }

  // What went wrong, for people.
  async expectMessage(pattern) {
    const { message } = this.rec.facts.error;
    assert.match(message, pattern, await this.shown());
    assert(!/\/r\/|    at |Authorization/.test(message), `unfit for people: ${message}`);
  }

  // What the model counted in that many requests of the run.
  usage(requests) {
    const { reasoning_tokens = 5 * requests, ...usage } = this.rec.facts.usage;
    assert.deepEqual({ ...usage, reasoning_tokens }, { input_tokens: 100 * requests,
      output_tokens: 20 * requests, cached_tokens: 40 * requests,
      reasoning_tokens: 5 * requests });
  }

  finals() {
    return this.fcmp.filter((e) => e.type === "assistant.message.final").map((e) => e.data);
  }

  // A file of the workspace, as its owner gets it.
  async file(path) {
    const { status, json } = await this.service.request("GET",
      `/v1/runs/${this.id}/files/content?path=${path}`);
    assert.equal(status, 200, JSON.stringify(json));
    return Buffer.from(json.data, "base64").toString();
  }

  // Removes what the engine keeps of its sessions.
  forget() {
    const home = join(this.service.runs, this.ids[0], "workspace/home");
    for (const name of readdirSync(home))
      rmSync(join(home, name), { recursive: true });
  }

  async shown() {
    const spool = join(this.service.runs, this.id, String(this.attempt));
    const tail = (name) => {
      try { return readFileSync(join(spool, name), "utf8").slice(-3000); } catch { return ""; }
    };
    return [...this.fcmp.map((e) => JSON.stringify({ type: e.type, data: e.data })),
      "--", JSON.stringify(await this.record()), "--", tail("stdout"), tail("stderr"), tail("exit")]
      .join("\n");
  }
}
