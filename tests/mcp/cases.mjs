#!/usr/bin/env node
// cases: what real MCP servers do behind a real mcp-host.
//
// usage: cases.mjs [part of a name]
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { freePort, isOpen, until } from "../testkit/wait.mjs";

const BIN = resolve(process.env.MCP_BIN ?? "build/release/bin");
const MODULES = resolve("build/mcp");
const CLI = join(MODULES, "node_modules/.bin");
const FILTER = process.argv[2] ?? process.env.TEST_FILTER ?? "";
const dir = mkdtempSync(join(tmpdir(), "soul-mcp-"));
const children = [];

function start(program, args, env = {}) {
  const child = spawn(program, args.map(String),
    { stdio: ["ignore", "ignore", "ignore"], env: { ...process.env, ...env } });
  child.ended = new Promise((done) => child.once("exit", done));
  children.push(child);
  return child;
}

// Enough of NATS for requests with many replies.
class Nats {
  constructor(port) {
    this.rest = Buffer.alloc(0);
    this.onProgress = () => {};
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

  publish(subject, message) {
    const body = JSON.stringify(message);
    this.socket.write(`PUB ${subject} ${Buffer.byteLength(body)}\r\n${body}\r\n`);
  }

  // The last reply, and those before it.
  request(subject, message, isLast = () => true) {
    const sid = String(this.subs.size + 1), before = [];
    return new Promise((done) => {
      this.subs.set(sid, (text) => {
        const reply = text === "" ? { none: true } : JSON.parse(text);
        if (reply.none || isLast(reply)) {
          done({ ...reply, before });
          return;
        }
        before.push(reply);
        if (reply.progress > 0)
          this.onProgress();
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

async function call(name, args, id = `c${++calls}`) {
  const { definition } = await tool(name);
  return nats.request("soul.tool.mcp-host.call", { call_id: id, user_id: "ann",
    soul_id: "s", session_id: "x", turn_id: "t", name, definition, arguments: args },
  (r) => r.state === "ended");
}

// Until it works: a server that has just been killed is started anew, and the lease of a
// killed host expires.  What was sent to a dying one is not confirmed.
async function callUntil(name, args) {
  return until(name, async () => {
    const one = await call(name, args);
    assert(one.ok || ["NOT_CONFIRMED", "SERVER_UNAVAILABLE"].includes(one.error.code),
      one.error?.message);
    return one.ok && one;
  });
}

// One that runs for a minute, once it has reported progress.
async function longCall(server) {
  const id = `c${++calls}`;
  const started = new Promise((done) => { nats.onProgress = done; });
  const ended = call(`${server}__trigger-long-running-operation`,
    { duration: 60, steps: 600 }, id);
  await started;
  return { id, ended };
}

// Processes of servers, with a part in their command line, and a variable.
function processes(part, variable = `OF_TEST=${dir}`) {
  return readdirSync("/proc").filter((pid) => {
    try {
      if (!/^[0-9]+$/.test(pid))
        return false;
      const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
      return environment.some((v) => v.startsWith("SOUL_RUN=mcp.")) &&
        environment.includes(`OF_TEST=${dir}`) && environment.includes(variable) &&
        readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").includes(part);
    } catch { return false; }
  });
}

function kill(pids) {
  assert(pids.length > 0, "a process to be killed");
  for (const pid of pids)
    process.kill(Number(pid), "SIGKILL");
}

// Between mcp-host and a server over HTTP: what passes.
const seen = { session: "", posts: [] };

function startProxy(port, to) {
  createHttpServer((req, res) => {
    const body = [];
    req.on("data", (data) => body.push(data));
    req.on("end", () => {
      const post = { text: Buffer.concat(body).toString(), status: 0 };
      if (req.method === "POST")
        seen.posts.push(post);
      const out = request({ port: to, host: "127.0.0.1", path: req.url, method: req.method,
        headers: req.headers }, (from) => {
        post.status = from.statusCode;
        seen.session = from.headers["mcp-session-id"] ?? seen.session;
        res.writeHead(from.statusCode, from.headers);
        res.flushHeaders();
        from.pipe(res);
        from.on("error", () => res.destroy());
      });
      out.on("error", () => res.destroy());
      res.on("close", () => out.destroy());
      out.end(post.text);
    });
  }).listen(port, "127.0.0.1").unref();
}

const posts = (method) => seen.posts.filter((p) => p.text.includes(`"method":"${method}"`));

const cases = {
  async each_transport_lists_and_echoes() {
    for (const server of SERVERS) {
      const r = await call(`${server}__echo`, { message: "你好" });
      assert.equal(r.ok, true, server);
      assert.match(r.text, /你好/);
    }
  },

  async each_transport_reports_progress() {
    for (const server of SERVERS) {
      const r = await call(`${server}__trigger-long-running-operation`,
        { duration: 1, steps: 4 });
      assert.equal(r.ok, true, server);
      assert(r.before.some((p) => p.progress > 0), `${server}: progress`);
    }
  },

  async each_transport_cancels() {
    for (const server of SERVERS) {
      const { id, ended } = await longCall(server);
      nats.publish("soul.tool.mcp-host.cancel", { call_id: id });
      assert.equal((await ended).error.code, "NOT_CONFIRMED", server);
      assert.equal((await call(`${server}__echo`, { message: "x" })).ok, true, server);
    }
    assert.equal(posts("notifications/cancelled").length, 1);
  },

  async a_server_does_not_demand_what_is_not_offered() {
    // It has tools for roots, sampling and elicitation only if they are offered.
    const { tools } = await list();
    assert(!tools.some((t) => /sampling|elicitation/.test(t.tool)), "tools");
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
    kill(processes("server-memory", "KIND=memory"));
    const r = await callUntil("memory__search_nodes", { query: "tea" });
    assert.match(r.text, /likes tea/);
  },

  async a_process_that_is_killed_in_a_call_leaves_it_unconfirmed() {
    const { ended } = await longCall("everything");
    kill(processes("server-everything"));
    assert.equal((await ended).error.code, "NOT_CONFIRMED");
    await callUntil("everything__echo", { message: "x" });
  },

  async a_server_over_http_that_is_killed_in_a_call_leaves_it_unconfirmed() {
    for (const server of ["web", "sse"]) {
      const { ended } = await longCall(server);
      web[server].child.kill("SIGKILL");
      assert.equal((await ended).error.code, "NOT_CONFIRMED", server);
      await web[server].start();
      await callUntil(`${server}__echo`, { message: "x" });
    }
  },

  async npx_that_is_killed_takes_its_server_with_it() {
    const entity = { name: "Bob", entityType: "person", observations: ["likes rain"] };
    assert.equal((await call("npx__create_entities", { entities: [entity] })).ok, true);
    assert(processes("", "KIND=npx").length > 1, "npx has a child");
    const before = processes("", "KIND=npx");
    kill(processes("npm exec", "KIND=npx"));
    await until("the end of its processes", () =>
      !processes("", "KIND=npx").some((pid) => before.includes(pid)));
    const r = await callUntil("npx__search_nodes", { query: "rain" });
    assert.match(r.text, /likes rain/);
  },

  async a_session_that_was_deleted_is_opened_anew_and_the_call_made_once() {
    assert.equal((await call("web__echo", { message: "x" })).ok, true);
    const session = seen.session, opened = posts("initialize").length;
    const r = await fetch(`http://127.0.0.1:${web.web.port}/mcp`,
      { method: "DELETE", headers: { "mcp-session-id": session } });
    assert.equal(r.status, 200);
    assert.equal((await call("web__echo", { message: "after it" })).ok, true);
    assert.equal(posts("initialize").length, opened + 1);
    assert.notEqual(seen.session, session);
    const made = posts("tools/call").filter((p) => p.text.includes("after it"));
    assert.equal(made.filter((p) => p.status === 200).length, 1);
  },

  async two_replicas_have_one_process_of_a_file() {
    const end = await startHost("second");
    const names = Array.from({ length: 24 }, (_, i) => `thing${i}`);
    const replies = await Promise.all(names.map((name) => call("memory__create_entities",
      { entities: [{ name, entityType: "thing", observations: [] }] })));
    // The server reads and writes its file without a lock: calls are in its queue, and
    // those that were too many at a time were not executed.
    for (const r of replies)
      assert(r.ok || r.error.code === "BUSY", r.error?.message);
    const done = names.filter((_, i) => replies[i].ok);
    assert(done.length >= 16, `${done.length} of 24`);
    assert.equal(processes("server-memory", "KIND=memory").length, 1);
    for (const name of ["first", "second"]) {
      const metrics = await (await fetch(`http://127.0.0.1:${hosts[name].admin}/metrics`)).text();
      assert.match(metrics, /soul_mcp_calls_total\{server="memory",end="ok"\} [1-9]/, name);
    }
    await end();
  },

  async a_killed_host_leaves_no_process_and_the_next_one_goes_on() {
    await call("memory__read_graph", {});
    hosts.first.child.kill("SIGKILL");
    await until("the end of all processes", () => processes("").length === 0);
    await startHost("first");
    const r = await callUntil("memory__search_nodes", { query: "tea" });
    assert.match(r.text, /likes tea/);
  },

  async all_speak_the_newest_protocol_with_sessions() {
    for (const name of ["everything", "files", "memory", "npx", "web", "sse"])
      await until(name, () => readFileSync(join(dir, "first.log"), "utf8")
        .includes(`mcp.server_ready server=${name} version=2025-11-25`));
  },
};

const SERVERS = ["everything", "web", "sse"];
const port = {}, hosts = {}, web = {};

// A replica; the function ends it.
async function startHost(name) {
  const admin = await freePort();
  const child = start("sh", ["-c", `exec "${BIN}/mcp-host" 2>>"${dir}/${name}.log"`], {
    NATS_URL: `nats://127.0.0.1:${port.nats}`, REDIS_URL: `redis://127.0.0.1:${port.redis}`,
    REDIS_TIMEOUT_MS: "10000", ADMIN_ADDR: `127.0.0.1:${admin}`,
    MCP_CONFIG: join(dir, "mcp.json") });
  hosts[name] = { child, admin };
  await until(name, async () => (await fetch(`http://127.0.0.1:${admin}/readyz`)
    .catch(() => ({ ok: false }))).ok);
  return async () => {
    child.kill("SIGTERM");
    await child.ended;
  };
}

// A server over HTTP, which can be started once more.
async function startWeb(name, transport) {
  const at = await freePort();
  web[name] = { port: at, async start() {
    this.child = start(join(CLI, "mcp-server-everything"), [transport], { PORT: at });
    await until(name, () => isOpen(at));
  } };
  await web[name].start();
}

function writeConfig(proxy) {
  const env = { OF_TEST: dir };
  const few = { policy: "auto", includeTools: ["echo", "trigger-long-running-operation"] };
  const memory = (kind) => ({ ...env, KIND: kind,
    MEMORY_FILE_PATH: join(dir, `${kind}-\${SOUL_USER}.json`) });
  writeFileSync(join(dir, "mcp.json"), JSON.stringify({ mcpServers: {
    everything: { command: join(CLI, "mcp-server-everything"), policy: "auto", env },
    web: { type: "http", url: `http://127.0.0.1:${proxy}/mcp`, ...few },
    sse: { type: "sse", url: `http://127.0.0.1:${web.sse.port}/sse`, ...few },
    files: { command: join(CLI, "mcp-server-filesystem"), args: [join(dir, "files")],
      policy: "auto", env },
    memory: { command: join(CLI, "mcp-server-memory"), policy: "auto", env: memory("memory") },
    npx: { command: "npx", args: ["--no", "mcp-server-memory"], cwd: MODULES, policy: "auto",
      includeTools: ["create_entities", "search_nodes"], env: memory("npx") } } }));
}

async function begin() {
  for (const name of ["nats", "redis", "proxy"])
    port[name] = await freePort();
  mkdirSync(join(dir, "redis"));
  mkdirSync(join(dir, "files"));
  writeFileSync(join(dir, "files/a.txt"), "The sea is calm today.");
  start("nats-server", ["-a", "127.0.0.1", "-p", port.nats, "-js", "-sd", join(dir, "nats"),
    "-l", join(dir, "nats.log")]);
  start("redis-server", ["--bind", "127.0.0.1", "--port", port.redis, "--dir", join(dir, "redis"),
    "--save", "", "--appendonly", "yes"]);
  for (const name of ["nats", "redis"])
    await until(name, () => isOpen(port[name]));
  await startWeb("web", "streamableHttp");
  await startWeb("sse", "sse");
  startProxy(port.proxy, web.web.port);
  writeConfig(port.proxy);
  await startHost("first");
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
  console.log(readFileSync(join(dir, "first.log"), "utf8"));
rmSync(dir, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
