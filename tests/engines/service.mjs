// service: one engine's command line behind the real service: chat-gateway,
// engine-runner and its model proxy, with their servers and a simulated model.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync }
  from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startModelSim } from "../testkit/model-sim.mjs";
import { freePort, isOpen, until as untilWithin } from "../testkit/wait.mjs";

const BIN = process.env.ENGINE_BIN ?? "build/release/bin";
const CLI = resolve("build/engines/node_modules/.bin");
export const KEY = "sk-real-key-of-the-simulated-provider";
// Longer than any engine takes to begin on a busy machine.
const WAIT_MS = 150000;

// The path of the provider's API, and a model that the engine knows.
const ENGINES = {
  codex: { path: "/v1", model: "sim-model" },
  gemini: { path: "", model: "gemini-2.5-flash" },
  opencode: { path: "/v1", model: "sim-model" },
};

export const until = (what, condition, ms = WAIT_MS) =>
  untilWithin(what, condition, ms);

// Processes that have the mark of a run in their environment, and command in
// their command line.
export function processesOf(run, command = "") {
  const found = [];
  for (const pid of readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name))) {
    try {
      const env = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
      const line = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
      if (env.some((e) => e.startsWith(`SOUL_RUN=${run}.`)) && line.includes(command))
        found.push(Number(pid));
    } catch { /* it has ended, or is not ours */ }
  }
  return found;
}

export class Service {
  constructor(engine) {
    this.engine = engine;
    this.dir = mkdtempSync(join(tmpdir(), "soul-engines-"));
    this.runs = join(this.dir, "runs");
    this.keyFile = join(this.dir, "key");
    this.children = [];
  }

  async start() {
    const { path, model } = ENGINES[this.engine];
    this.sim = await startModelSim({ key: KEY });
    const port = {};
    for (const name of ["nats", "redis", "proxy", "http", "admin1", "admin2", "admin3"])
      port[name] = await freePort();
    this.url = `http://127.0.0.1:${port.http}`;
    this.proxyAdmin = `http://127.0.0.1:${port.admin1}`;
    mkdirSync(this.runs, { mode: 0o700 });
    mkdirSync(join(this.dir, "redis"));
    writeFileSync(this.keyFile, KEY, { mode: 0o600 });
    writeFileSync(join(this.dir, "engines.json"), JSON.stringify({ engines: [{
      engine: this.engine, command: [join(CLI, this.engine)], models: [model],
      base_url: `http://127.0.0.1:${this.sim.port}${path}`, key_file: this.keyFile }] }));
    this.spawn("nats-server", ["-a", "127.0.0.1", "-p", port.nats, "-js",
      "-sd", join(this.dir, "nats")], { stdio: "ignore" });
    this.spawn("redis-server", ["--bind", "127.0.0.1", "--port", port.redis,
      "--dir", join(this.dir, "redis"), "--appendonly", "yes", "--save", ""],
    { stdio: "ignore" });
    for (const name of ["nats", "redis"])
      await until(name, () => isOpen(port[name]));
    const env = { ...process.env, NATS_URL: `nats://127.0.0.1:${port.nats}`,
      REDIS_URL: `redis://127.0.0.1:${port.redis}`, REDIS_TIMEOUT_MS: "10000",
      LOG_LEVEL: process.env.LOG_LEVEL ?? "warn", RUNS_DIR: this.runs, ENGINES: join(this.dir, "engines.json"),
      ENGINE_PROXY_ADDR: `127.0.0.1:${port.proxy}` };
    const program = (name, args, more) =>
      this.spawn(join(BIN, name), args, { env: { ...env, ...more } });
    program("engine-runner", ["proxy"], { ADMIN_ADDR: `127.0.0.1:${port.admin1}` });
    program("engine-runner", [], { ADMIN_ADDR: `127.0.0.1:${port.admin2}`,
      RUNNER_ID: "r1", RUNS_PER_USER: "100", RUNS_DRAIN_MS: "0" });
    program("chat-gateway", [], { ADMIN_ADDR: `127.0.0.1:${port.admin3}`,
      HTTP_ADDR: `127.0.0.1:${port.http}` });
    await until("chat-gateway", () => isOpen(port.http));
    await until("the engine in GET /v1/engines", () => this.offer());
  }

  spawn(program, args, options) {
    const child = spawn(program, args.map(String),
      { stdio: ["ignore", "inherit", "inherit"], ...options });
    const ended = new Promise((done) => {
      child.once("exit", done);
      child.once("error", (error) => { console.log(error); done(error.code); });
    });
    this.children.push({ program, child, ended });
  }

  // What GET /v1/engines has of the engine; undefined: nothing.
  async offer() {
    const { items } = (await this.request("GET", "/v1/engines")).json ?? {};
    return items?.find((e) => e.engine === this.engine);
  }

  // {status, json}; no response has the provider's key.
  async request(method, path, body) {
    const res = await fetch(this.url + path, { method,
      ...(body && { headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body) }) });
    const text = await res.text();
    this.check(text, `${method} ${path}`);
    return { status: res.status, json: text === "" ? undefined : JSON.parse(text) };
  }

  check(text, where) {
    if (text.includes(KEY))
      throw Error(`${where}: has the provider's key`);
  }

  // Ends all, the services first; true: each has drained.
  async stop() {
    const metrics = await fetch(`${this.proxyAdmin}/metrics`).then((res) => res.text(), String);
    let clean = metrics.includes("soul_model_tokens_total") && !metrics.includes(KEY);
    for (const { program, child, ended } of this.children.reverse()) {
      child.kill("SIGTERM");
      const code = await ended;
      if (program.startsWith(BIN) && code !== 0) {
        console.log(`${program} has exited with ${code}`);
        clean = false;
      }
    }
    this.sim.close();
    rmSync(this.dir, { recursive: true, force: true });
    return clean;
  }
}
