// engine: a real engine's command line in a folder of its own, with a model that
// is simulated behind the model proxy.
import { spawn, execFileSync } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync }
  from "node:fs";
import { createServer, connect } from "node:net";
import { constants, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { startModelSim } from "../testkit/model-sim.mjs";

const BIN = process.env.ENGINE_BIN ?? "build/release/bin";
const CLI = resolve("build/engines/node_modules/.bin");
export const KEY = "sk-real-key-of-the-simulated-provider";
const DUMMY = "sk-dummy";

const ENV = { PATH: "/usr/local/bin:/usr/bin:/bin", TERM: "dumb", NO_COLOR: "1",
  LANG: "C.UTF-8", CI: "1", DISABLE_AUTOUPDATER: "1", DO_NOT_TRACK: "1" };

// How each is started: as engine.c of engine-runner does it.
export const ENGINES = {
  codex: {
    path: "/v1",
    argv(handle) {
      const options = ["--json", "--skip-git-repo-check", "-m", "sim-model",
        "-c", 'sandbox_mode="danger-full-access"'];
      return handle === undefined ? ["exec", ...options, "-"]
        : ["exec", "resume", ...options, handle, "-"];
    },
    stdin: true,
    env: (url, home) => ({ CODEX_API_KEY: DUMMY, CODEX_HOME: `${home}/.codex` }),
    files: (url) => ({
      ".codex/config.toml": `model_provider = "soul"
approval_policy = "never"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.soul]
name = "soul"
base_url = "${url}"
env_key = "CODEX_API_KEY"
wire_api = "responses"
` }),
    keyless: { CODEX_API_KEY: "" },
    unknown: "01a21bc3-0000-7000-8000-000000000000",
    handle: (rows) => rows.find((r) => r.type === "thread.started")?.thread_id,
  },
  gemini: {
    path: "",
    argv: (handle, prompt) => ["--skip-trust", "--approval-mode=yolo",
      "--output-format=stream-json", "--model=gemini-2.5-flash",
      ...(handle === undefined ? [] : [`--resume=${handle}`]), `--prompt=${prompt}`],
    env: (url) => ({ GEMINI_API_KEY: DUMMY, GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_TELEMETRY_ENABLED: "false" }),
    files: () => ({
      ".gemini/settings.json": JSON.stringify({
        security: { auth: { selectedType: "gemini-api-key" } },
        general: { disableAutoUpdate: true, enableAutoUpdate: false, maxAttempts: 3 },
        privacy: { usageStatisticsEnabled: false },
      }) }),
    keyless: { GEMINI_API_KEY: "" },
    unknown: "a2ec1ccf-a7a2-42b1-af19-9fdfb6a53400",
    handle: (rows) => rows.find((r) => r.type === "init")?.session_id,
  },
  opencode: {
    path: "/v1",
    argv: (handle, prompt) => ["run", "--format=json", "--model=soul/sim-model",
      ...(handle === undefined ? [] : [`--session=${handle}`]), "--", prompt],
    env: () => ({ SOUL_MODEL_KEY: DUMMY, OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1" }),
    files: (url) => ({
      ".config/opencode/opencode.json": JSON.stringify({
        autoupdate: false, share: "disabled", permission: "allow",
        provider: { soul: { npm: "@ai-sdk/openai-compatible",
          options: { baseURL: url, apiKey: DUMMY }, models: { "sim-model": {} } } },
      }) }),
    unknown: "ses_de43c968effey8TlB9HlxC5Q00",
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
    engines: Object.entries(ENGINES).map(([engine, e]) => ({ engine, command: [engine],
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
  const spool = join(run.dir, String(++run.attempt));
  const home = join(run.dir, "home");
  mkdirSync(spool);
  writeFileSync(join(spool, "stdin"), e.stdin ? prompt : "");
  const child = spawn("bash", ["-c",
    'exec "$@" <"$SPOOL/stdin" >"$SPOOL/stdout" 2>"$SPOOL/stderr"', "bash",
    join(CLI, run.name), ...e.argv(handle, prompt)], {
    cwd: join(run.dir, "work"), detached: true, stdio: "ignore",
    env: { ...ENV, HOME: home, TMPDIR: join(run.dir, "tmp"), SPOOL: spool, PWD: join(run.dir, "work"),
      SOUL_RUN: `${run.id}.1`, ...e.env(run.url, home), ...env },
  });
  const start = Date.now();
  const ended = new Promise((done) => child.once("exit", (code, signal) => done({ code, signal })));
  const read = (name) => readFileSync(join(spool, name), "utf8");
  const engine = {
    spool, read, stopped: false,
    // Ends it as the shim does: its group, and then what has left that.
    async stop() {
      engine.stopped = true;
      process.kill(-child.pid, "SIGTERM");
      let timer;
      const limit = new Promise((done) => { timer = setTimeout(done, 5000); });
      await Promise.race([ended, limit]);
      clearTimeout(timer);
      for (const pid of processesOf(run))
        try { process.kill(pid, "SIGKILL"); } catch { /* it has ended */ }
      await ended;
    },
    async end(ms = 240000) {
      let timer;
      const limit = new Promise((done) => { timer = setTimeout(() => done(null), ms); });
      const result = await Promise.race([ended, limit]);
      clearTimeout(timer);
      if (result === null) {
        await engine.stop();
        throw Error(`${run.name} has not ended within ${ms} ms: ${read("stdout")}`);
      }
      const rows = rowsOf(read("stdout"));
      return { ...result, ms: Date.now() - start, stdout: read("stdout"),
        stderr: read("stderr"), rows, handle: e.handle(rows) };
    },
  };
  return engine;
}

// The journal of a spool: each line as a read of its own.
function journalOf(texts) {
  const records = [];
  for (const [stream, text] of texts.entries()) {
    let end = 0;
    for (const line of text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
      end += Buffer.byteLength(line);
      const record = Buffer.alloc(17);
      record.writeUInt8(stream, 0);
      record.writeBigUInt64LE(BigInt(end), 1);
      record.writeBigInt64LE(BigInt(records.length + 1) * 1000000n, 9);
      records.push(record);
    }
  }
  return Buffer.concat(records);
}

// The events of an attempt that has ended, of protocol "fcmp" or "rasp".  meta is
// what the spool says beside its engine.
export function replay(run, engine, end, meta, protocol) {
  const lines = (o) => Object.entries(o).filter(([, v]) => v !== undefined)
    .map(([k, v]) => `${k} ${String(v).replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}\n`)
    .join("");
  writeFileSync(join(engine.spool, "meta"), lines({ run_id: run.id, engine: run.name,
    mode: "interactive", title: "a test", attempt: run.attempt, ...meta }));
  writeFileSync(join(engine.spool, "exit"), lines({
    stop: engine.stopped ? "canceled" : "none", code: end.code ?? 0,
    signal: end.signal ? constants.signals[end.signal] : 0 }));
  writeFileSync(join(engine.spool, "journal"), journalOf([end.stdout, end.stderr]));
  return rowsOf(execFileSync(join(BIN, "engine-runner"), ["replay", "--spool", engine.spool,
    `--${protocol}`], { maxBuffer: 64 * 1024 * 1024 }).toString());
}

export function rowsOf(text) {
  return text.split("\n").filter((l) => l.startsWith("{")).flatMap((l) => {
    try { return [JSON.parse(l)]; } catch { return []; }
  });
}

// Processes that have the run's mark in their environment, and command in their
// command line.
export function processesOf(run, command = "") {
  const found = [];
  for (const pid of readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name))) {
    try {
      const env = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
      const line = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
      if (env.includes(`SOUL_RUN=${run.id}.1`) && line.includes(command))
        found.push(Number(pid));
    } catch { /* it has ended, or is not ours */ }
  }
  return found;
}
