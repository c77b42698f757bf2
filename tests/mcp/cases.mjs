#!/usr/bin/env node
// cases: what real MCP servers do behind a real mcp-host.
//
// usage: cases.mjs [part of a name]
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const BIN = resolve(process.env.MCP_BIN ?? "build/release/bin");
const CLI = resolve("build/mcp/node_modules/.bin");
const FILTER = process.argv[2] ?? process.env.TEST_FILTER ?? "";
const WAIT_MS = 60000;
const dir = mkdtempSync(join(tmpdir(), "soul-mcp-"));
const children = [];

async function until(what, condition) {
  const end = Date.now() + WAIT_MS;
  for (;;) {
    const value = await condition();
    if (value)
      return value;
    if (Date.now() > end)
      throw Error(`${what}: not within ${WAIT_MS} ms`);
    await new Promise((r) => setTimeout(r, 20));
  }
}

const freePort = () => new Promise((done) => {
  const s = createServer().listen(0, "127.0.0.1", () => {
    const { port } = s.address();
    s.close(() => done(port));
  });
});

const isOpen = (port) => new Promise((done) => {
  const s = connect(port, "127.0.0.1", () => { s.destroy(); done(true); });
  s.on("error", () => done(false));
});

function start(program, args, env = {}) {
  const child = spawn(program, args.map(String),
    { stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, ...env } });
  child.ended = new Promise((done) => child.once("exit", done));
  children.push(child);
  return child;
}

// Enough of NATS for requests with many replies.
class Nats {
  constructor(port) {
    this.rest = Buffer.alloc(0);
    this.subs = new Map();
    this.up = new Promise((done) => {
      this.socket = connect(port, "127.0.0.1", () => {
        this.socket.write(
          'CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\n');
        done();
      });
    });
    this.socket.on("data", (data) => this.read(data));
  }

  read(data) {
    this.rest = Buffer.concat([this.rest, data]);
    for (;;) {
      const at = this.rest.indexOf("\r\n");
      if (at < 0)
        return;
      const words = this.rest.subarray(0, at).toString().split(" ");
      const size = /^H?MSG$/.test(words[0]) ? Number(words.at(-1)) : -1;
      if (size >= 0 && this.rest.length < at + 4 + size)
        return;
      if (words[0] === "PING")
        this.socket.write("PONG\r\n");
      if (size >= 0) {
        const head = words[0] === "HMSG" ? Number(words.at(-2)) : 0;
        this.subs.get(words[2])?.(this.rest.subarray(at + 2 + head, at + 2 + size).toString());
      }
      this.rest = this.rest.subarray(size >= 0 ? at + 4 + size : at + 2);
    }
  }

  // The last reply, and those before it.
  request(subject, message, isLast = () => true) {
    const sid = String(this.subs.size + 1), before = [];
    return new Promise((done) => {
      this.subs.set(sid, (text) => {
        const reply = text === "" ? { none: true } : JSON.parse(text);
        if (reply.none || isLast(reply))
          done({ ...reply, before });
        else
          before.push(reply);
      });
      const body = JSON.stringify(message);
      this.socket.write(`SUB inbox.${sid} ${sid}\r\nPUB ${subject} inbox.${sid} ` +
        `${Buffer.byteLength(body)}\r\n${body}\r\n`);
    });
  }
}

let nats, calls = 0;

const list = () => nats.request("soul.tool.mcp-host.list",
  { user_id: "ann", soul_id: "s", session_id: "x", text: "", max: 64 });

async function tool(name) {
  return until(name, async () =>
    (await list()).tools?.find((t) => t.name === name));
}

async function call(name, args) {
  const { definition } = await tool(name);
  return nats.request("soul.tool.mcp-host.call", { call_id: `c${++calls}`, user_id: "ann",
    soul_id: "s", session_id: "x", turn_id: "t", name, definition, arguments: args },
  (r) => r.state === "ended");
}

function processes(part) {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^[0-9]+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, "utf8").includes("SOUL_RUN=mcp.") &&
        readFileSync(`/proc/${pid}/environ`, "utf8").includes(`OF_TEST=${dir}`) &&
        readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(part);
    } catch { return false; }
  });
}

const cases = {
  async everything_echoes() {
    const r = await call("everything__echo", { message: "你好" });
    assert.equal(r.ok, true);
    assert.match(r.text, /你好/);
  },

  async everything_reports_progress() {
    const { tools } = await list();
    const long = tools.find((t) => /long/.test(t.tool));
    const r = await call(long.name, { duration: 2, steps: 4 });
    assert.equal(r.ok, true);
    assert(r.before.some((p) => p.progress > 0), "progress");
  },

  async everything_rejects_bad_arguments() {
    const r = await call("everything__echo", { message: 3 });
    assert.equal(r.ok, false);
    assert(["TOOL_ERROR", "INVALID_ARGUMENTS"].includes(r.error.code), r.error.code);
  },

  async a_file_is_read() {
    const r = await call("files__read_text_file", { path: join(dir, "files/a.txt") });
    assert.equal(r.ok, true);
    assert.match(r.text, /calm today/);
  },

  async no_file_outside_is_read() {
    const r = await call("files__read_text_file", { path: "/etc/hostname" });
    assert.equal(r.ok, false);
    assert.equal(r.error.code, "TOOL_ERROR");
  },

  async a_file_is_written() {
    const path = join(dir, "files/b.txt");
    const r = await call("files__write_file", { path, content: "b" });
    assert.equal(r.ok, true);
    assert.equal(readFileSync(path, "utf8"), "b");
  },

  async a_memory_outlives_its_process() {
    const entity = { name: "Ann", entityType: "person", observations: ["likes tea"] };
    assert.equal((await call("memory__create_entities", { entities: [entity] })).ok, true);
    for (const pid of processes("server-memory"))
      process.kill(Number(pid), "SIGKILL");
    // One that is sent to a dying process is not confirmed.
    const r = await until("the next process", async () => {
      const one = await call("memory__search_nodes", { query: "tea" });
      assert(one.ok || one.error.code === "NOT_CONFIRMED", one.error?.message);
      return one.ok && one;
    });
    assert.match(r.text, /likes tea/);
  },

  async all_speak_the_newest_protocol_with_sessions() {
    const log = readFileSync(join(dir, "host.log"), "utf8");
    for (const name of ["everything", "files", "memory"])
      assert.match(log, new RegExp(`mcp.server_ready server=${name} version=2025-11-25`));
  },
};

async function begin() {
  const port = {};
  for (const name of ["nats", "redis", "admin"])
    port[name] = await freePort();
  mkdirSync(join(dir, "redis"));
  mkdirSync(join(dir, "files"));
  writeFileSync(join(dir, "files/a.txt"), "The sea is calm today.");
  const env = { OF_TEST: dir };
  writeFileSync(join(dir, "mcp.json"), JSON.stringify({ mcpServers: {
    everything: { command: join(CLI, "mcp-server-everything"), policy: "auto", env },
    files: { command: join(CLI, "mcp-server-filesystem"), args: [join(dir, "files")],
      policy: "auto", env },
    memory: { command: join(CLI, "mcp-server-memory"), policy: "auto",
      env: { ...env, MEMORY_FILE_PATH: join(dir, "memory-${SOUL_USER}.json") } } } }));
  start("nats-server", ["-a", "127.0.0.1", "-p", port.nats, "-js", "-sd", join(dir, "nats"),
    "-l", join(dir, "nats.log")]);
  start("redis-server", ["--bind", "127.0.0.1", "--port", port.redis, "--dir", join(dir, "redis"),
    "--save", "", "--appendonly", "yes"]);
  for (const name of ["nats", "redis"])
    await until(name, () => isOpen(port[name]));
  start("sh", ["-c", `exec "${BIN}/mcp-host" 2>"${dir}/host.log"`], {
    NATS_URL: `nats://127.0.0.1:${port.nats}`, REDIS_URL: `redis://127.0.0.1:${port.redis}`,
    REDIS_TIMEOUT_MS: "10000", ADMIN_ADDR: `127.0.0.1:${port.admin}`,
    MCP_CONFIG: join(dir, "mcp.json") });
  nats = new Nats(port.nats);
  await nats.up;
}

async function end() {
  for (const child of children.reverse()) {
    child.kill("SIGTERM");
    await child.ended;
  }
  await until("the end of all processes", () => processes("").length === 0);
  nats.socket.destroy();
}

let passed = 0, failed = 0;
await begin();
for (const [name, run] of Object.entries(cases).filter(([name]) => name.includes(FILTER))) {
  try {
    await run();
    passed++;
  } catch (error) {
    failed++;
    console.log(`${name}: ${error.stack}`);
  }
}
try {
  await end();
} catch (error) {
  failed++;
  console.log(error.stack);
}
if (failed > 0)
  console.log(readFileSync(join(dir, "host.log"), "utf8"));
rmSync(dir, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
