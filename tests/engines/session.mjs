// session: a conversation with an engine, one attempt after the other, whose
// events a case asserts.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ENGINES, KEY, makeRun, processesOf, replay, startEngine, until }
  from "./engine.mjs";

// Longer than any engine takes to begin on a busy machine.
const WAIT_MS = 150000;

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

export class Session {
  constructor(proxy, name, options = {}) {
    this.proxy = proxy;
    this.run = makeRun(proxy, name, options);
    this.name = name;
  }

  start(prompt, options = {}) {
    this.proxy.sim.requests.length = 0;
    this.meta = { handle: options.handle, rasp_seq: this.rasp?.at(-1).seq ?? 0,
      fcmp_seq: this.fcmp?.at(-1).seq ?? 0 };
    this.engine = startEngine(this.run, prompt, options);
  }

  // The user's answer, which the next attempt of the conversation is given.
  reply(content) {
    const asked = this.fcmp.at(-1).data.interaction_id;
    this.start(content, { handle: this.handle });
    Object.assign(this.meta, { interaction_id: asked, reply: content });
  }

  // A run that continues this one.
  resume(prompt) {
    this.start(prompt, { handle: this.handle });
    Object.assign(this.meta, { attempt: 1, rasp_seq: 0, fcmp_seq: 0 });
  }

  // Waits until the model has been called for a scenario.
  called(scenario) {
    return until(`a request for ${scenario}`,
      () => this.proxy.sim.requests.some((q) => q.scenario === scenario), WAIT_MS);
  }

  // Waits until a row of stdout, or the list of processes, is as test wants it.
  printed(what, test) {
    return until(what, () => test(this.engine.read("stdout")), WAIT_MS);
  }

  stop() {
    return this.engine.stop();
  }

  // Waits for the end of the attempt, and checks what holds for every one.
  async end(ms) {
    this.result = await this.engine.end(ms);
    this.handle = this.result.handle ?? this.handle;
    this.fcmp = replay(this.run, this.engine, this.result, this.meta, "fcmp");
    this.rasp = replay(this.run, this.engine, this.result, this.meta, "rasp");
    const ends = this.fcmp.filter((e) =>
      /^(conversation.(completed|failed)|user.input.required)$/.test(e.type));
    assert.equal(ends.length, 1, "exactly one end");
    assert.equal(this.fcmp.at(-1), ends[0], "the end is the last event");
    assert.deepEqual(this.fcmp.map((e) => e.seq), this.fcmp.map((_, i) =>
      this.meta.fcmp_seq + i + 1));
    for (const text of [this.result.stdout, this.result.stderr])
      assert(!text.includes(KEY), "the provider's key is in the output");
    const requests = this.proxy.sim.requests.filter((q) => q.headers);
    assert(!JSON.stringify(requests.map((q) => q.headers)).includes("sk-dummy"),
      "the dummy key has reached the provider");
    this.covers();
    this.left = processesOf(this.run);
  }

  // Every byte of both streams is in the raw_ref of an event of RASP.
  covers() {
    for (const stream of ["stdout", "stderr"]) {
      const size = Buffer.byteLength(this.result[stream]);
      const spans = this.rasp.map((e) => [e.raw_ref[`${stream}_from`], e.raw_ref[`${stream}_to`]])
        .sort((a, b) => a[0] - b[0]);
      let at = 0;
      for (const [from, to] of spans)
        if (from <= at)
          at = Math.max(at, to);
      assert.equal(at, size, `${stream}: bytes from ${at} of ${size} are in no event`);
    }
  }

  // The events, without warnings that engines give on their own.
  expect(...want) {
    const all = this.fcmp.map(brief).filter((b) => !b.startsWith("warning"));
    const is = all.filter((b, i) => b !== all[i - 1]);
    assert.deepEqual(is, want, this.shown());
    assert.deepEqual(this.left, [], "processes are left");
  }

  expectWarning(code) {
    assert(this.fcmp.map(brief).includes(`warning ${code}`), this.shown());
  }

  // What went wrong, for people.
  expectMessage(pattern) {
    const { message } = this.fcmp.at(-1).data.error;
    assert.match(message, pattern, this.shown());
    assert(!/\/r\/|    at |Authorization/.test(message), `unfit for people: ${message}`);
  }

  finals() {
    return this.fcmp.filter((e) => e.type === "assistant.message.final").map((e) => e.data);
  }

  has(path) {
    return existsSync(join(this.run.dir, "work", path));
  }

  file(path) {
    return readFileSync(join(this.run.dir, "work", path), "utf8");
  }

  streams() {
    return this.name === "gemini";
  }

  unknown() {
    return ENGINES[this.name].unknown;
  }

  keyless() {
    return ENGINES[this.name].keyless;
  }

  shown() {
    return [`exit ${this.result.code} ${this.result.signal}`, ...this.fcmp.map((e) =>
      JSON.stringify({ type: e.type, data: e.data })), "--", this.result.stdout.slice(-3000),
    this.result.stderr.slice(-2000)].join("\n");
  }
}
