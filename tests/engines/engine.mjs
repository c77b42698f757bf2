// engine: a real engine's command line in a folder of its own, with a model that
// is simulated behind the model proxy.
import { spawn, execFileSync } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { startModelSim } from "../testkit/model-sim.mjs";

const BIN = process.env.ENGINE_BIN ?? "build/release/bin";
const CLI = resolve("build/engines/node_modules/.bin");
export const KEY = "sk-real-key-of-the-simulated-provider";
const DUMMY = "sk-dummy";

// How each is started, as the table of engine-runner has it.
export const ENGINES = {
  codex: {
    api: "openai",
    path: "/v1",
    argv: (handle) => handle === undefined
      ? ["exec", "--json", "--skip-git-repo-check", "-s", "danger-full-access", "-"]
      : ["exec", "resume", "--json", "--skip-git-repo-check", handle, "-"],
    stdin: true,
    env: () => ({ CODEX_API_KEY: DUMMY }),
    files: (url) => ({
      ".codex/config.toml": `model = "sim-model"
model_provider = "soul"
sandbox_mode = "danger-full-access"
approval_policy = "never"
check_for_update_on_startup = false
[model_providers.soul]
name = "soul"
base_url = "${url}"
wire_api = "responses"
env_key = "CODEX_API_KEY"
request_max_retries = 1
stream_max_retries = 1
stream_idle_timeout_ms = 60000
[analytics]
enabled = false
[feedback]
enabled = false
` }),
    handle: (rows) => rows.find((r) => r.type === "thread.started")?.thread_id,
  },
  gemini: {
    api: "gemini",
    path: "",
    argv: (handle, prompt) => ["--skip-trust", "--approval-mode", "yolo",
      "--output-format", "stream-json", "-m", "gemini-2.5-flash",
      ...(handle === undefined ? [] : ["--resume", handle]), "-p", prompt],
    env: (url) => ({ GEMINI_API_KEY: DUMMY, GOOGLE_GEMINI_BASE_URL: url }),
    files: () => ({
      ".gemini/settings.json": JSON.stringify({
        general: { disableAutoUpdate: true, disableUpdateNag: true, enableAutoUpdate: false,
          maxAttempts: 3 },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        security: { auth: { selectedType: "gemini-api-key" } },
      }) }),
    handle: (rows) => rows.find((r) => r.type === "init")?.session_id,
  },
  opencode: {
    api: "openai",
    path: "/v1",
    argv: (handle, prompt) => ["run", "--format", "json", "-m", "soul/sim-model",
      ...(handle === undefined ? [] : ["--session", handle]), "--", prompt],
    env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_SHARE: "1", OPENCODE_DISABLE_LSP_DOWNLOAD: "1" }),
    files: (url) => ({
      ".config/opencode/opencode.json": JSON.stringify({
        autoupdate: false, share: "disabled",
        permission: { "*": "allow" },
        provider: { soul: { npm: "@ai-sdk/openai-compatible", name: "soul",
          options: { baseURL: url, apiKey: DUMMY },
          models: { "sim-model": { name: "sim-model", tool_call: true,
            limit: { context: 100000, output: 8000 } } } } },
      }) }),
    handle: (rows) => rows.find((r) => r.sessionID)?.sessionID,
  },
};

export function freePort() {
  return new Promise((done) => {
    const s = createServer().listen(0, "127.0.0.1", () => {
      const { port } = s.address();
      s.close(() => done(port));
    });
  });
}

export async function until(what, condition, ms = 30000) {
  const end = Date.now() + ms;
  for (;;) {
    const value = await condition();
    if (value)
      return value;
    if (Date.now() > end)
      throw Error(`${what}: not within ${ms} ms`);
    await new Promise((r) => setTimeout(r, 20));
  }
}

// The base URL of a run, as proxy_path.c writes it.
export function runUrl(proxy, run, { epoch = 1, budget = 1000000 } = {}) {
  const claims = `${run}/${epoch}/${budget}`;
  const mac = createHmac("sha256", proxy.secret).update(`soul model proxy 1\n${claims}`)
    .digest("base64url");
  return `http://127.0.0.1:${proxy.port}/r/${claims}/${mac}`;
}

function open(port) {
  return new Promise((done) => {
    const s = connect(port, "127.0.0.1", () => { s.destroy(); done(true); });
    s.on("error", () => done(false));
  });
}

// The simulated model, and the proxy in front of it.
export async function startProxy() {
  const dir = mkdtempSync(join(tmpdir(), "soul-engines-"));
  const sim = await startModelSim({ key: KEY });
  const secret = randomBytes(32);
  const [port, admin] = [await freePort(), await freePort()];
  mkdirSync(join(dir, "runs"));
  writeFileSync(join(dir, "runs/proxy.secret"), secret, { mode: 0o600 });
  writeFileSync(join(dir, "key"), `${KEY}\n`, { mode: 0o600 });
  writeFileSync(join(dir, "engines.json"), JSON.stringify({
    engines: Object.entries(ENGINES).map(([name, e]) => ({ name, api: e.api,
      base_url: `http://127.0.0.1:${sim.port}${e.path}`, key_file: join(dir, "key") })),
  }));
  const child = spawn(join(BIN, "engine-runner"), ["proxy"], {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, ENGINE_PROXY_ADDR: `127.0.0.1:${port}`, LOG_LEVEL: "warn",
      ADMIN_ADDR: `127.0.0.1:${admin}`, RUNS_DIR: join(dir, "runs"),
      ENGINES: join(dir, "engines.json") },
  });
  await until("the proxy", () => open(port));
  return {
    sim, secret, port, admin, dir,
    async stop() {
      const end = new Promise((done) => child.once("exit", (code) => done(code)));
      child.kill("SIGTERM");
      sim.close();
      const code = await end;
      rmSync(dir, { recursive: true, force: true });
      return code;
    },
  };
}

// A folder for the attempts of one run.
export function makeRun(proxy, name, options = {}) {
  const hex = randomBytes(4).toString("hex");
  const id = `20261127T000000-${name}-${hex}`;
  const dir = join(proxy.dir, id);
  for (const sub of ["home", "work", "tmp"])
    mkdirSync(join(dir, sub), { recursive: true });
  const url = runUrl(proxy, id, options);
  const files = { ...ENGINES[name].files(url), ...options.files };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, "home", path)), { recursive: true });
    writeFileSync(join(dir, "home", path), text);
  }
  return { id, name, dir, url, attempt: 0 };
}

// Starts the engine; the result has its end as a promise.
export function startEngine(run, prompt, { handle, env = {} } = {}) {
  const e = ENGINES[run.name];
  const n = ++run.attempt;
  const spool = join(run.dir, String(n));
  mkdirSync(spool);
  writeFileSync(join(spool, "stdin"), e.stdin ? prompt : "");
  const argv = e.argv(handle, prompt);
  const child = spawn("bash", ["-c",
    'exec "$@" <"$SPOOL/stdin" >"$SPOOL/stdout" 2>"$SPOOL/stderr"', "bash",
    join(CLI, run.name), ...argv], {
    cwd: join(run.dir, "work"), detached: true, stdio: "ignore",
    env: { PATH: process.env.PATH, HOME: join(run.dir, "home"), TMPDIR: join(run.dir, "tmp"),
      SPOOL: spool, TERM: "dumb", NO_COLOR: "1", LANG: "C.UTF-8",
      SOUL_RUN: `${run.id}.1`, ...e.env(run.url), ...env },
  });
  const start = Date.now();
  const ended = new Promise((done) => child.once("exit", (code, signal) => done({ code, signal })));
  const read = (name) => readFileSync(join(spool, name), "utf8");
  return {
    argv, child, spool, read,
    // Ends with its group, as the shim does.
    stop(signal) { process.kill(-child.pid, signal); },
    async end(ms = 120000) {
      let timer;
      const limit = new Promise((done) => { timer = setTimeout(() => done(null), ms); });
      const result = await Promise.race([ended, limit]);
      clearTimeout(timer);
      if (result === null) {
        process.kill(-child.pid, "SIGKILL");
        await ended;
      }
      const rows = rowsOf(read("stdout"));
      return { ...(result ?? { code: null, signal: "timeout" }), ms: Date.now() - start,
        stdout: read("stdout"), stderr: read("stderr"), rows, handle: e.handle(rows) };
    },
  };
}

export function rowsOf(text) {
  return text.split("\n").filter((l) => l.startsWith("{")).flatMap((l) => {
    try { return [JSON.parse(l)]; } catch { return []; }
  });
}

// Processes that have the run's mark in their environment.
export function processesOf(run) {
  const out = execFileSync("bash", ["-c",
    'grep -lz "^SOUL_RUN=$RUN[.]" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3 || true'],
  { env: { ...process.env, RUN: run.id } });
  return out.toString().split("\n").filter((p) => p !== "" && Number(p) !== process.pid);
}
