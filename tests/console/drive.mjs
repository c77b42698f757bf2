// drive: what the tests of the console share: a stack, a proxy with faults, pages.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, until } from "../web/test.mjs";

const modules = createRequire(`${process.cwd()}/build/console/`);
const { chromium } = modules("playwright-core");
const AXE = readFileSync(modules.resolve("axe-core/axe.min.js"), "utf8");
const SHIFTS = 8;

const dir = mkdtempSync(join(tmpdir(), "console-"));
// What souls may ask for.
const catalogue = join(dir, "catalogue.json");
writeFileSync(catalogue, JSON.stringify({ mcpServers: { weather: {
  command: `${process.cwd()}/${process.env.STACK_BIN ?? "build/release/bin"}/mcp-sim`,
  args: [`log=${join(dir, "weather.log")}`], title: "Weather",
  description: "查询天气预报 weather forecast" } } }));
let stack;
let browser;

// ---- the stack ----

async function startStack(shift) {
  let log = "";
  const child = spawn("deploy/stack", ["run"], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, STACK_DIR: join(dir, String(shift)), PORT_SHIFT: shift,
      MCP_CATALOGUE: catalogue,
      STACK_BIN: process.env.STACK_BIN ?? "build/release/bin" } });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const ready = new Promise((resolve) => {
    for (const out of [child.stdout, child.stderr])
      out.on("data", (text) => {
        log += text;
        if (log.includes("soul: ready"))
          resolve(true);
      });
  });
  if (await Promise.race([ready, ended]) !== true)
    return { error: log };
  return { child, ended, port: 9010 + shift, mqtt: 1883 + shift, sim: 9080 + shift, nats: 4222 + shift,
    url: `http://127.0.0.1:${9010 + shift}` };
}

// The stack of this run, on free ports below those of outgoing connections.
export async function theStack() {
  let why = "";
  for (let i = 0; !stack && i < SHIFTS; i++) {
    const made = await startStack(12000 + 250 * Math.floor(Math.random() * 40));
    if (made.error && !made.error.includes("in use"))
      throw Error(made.error);
    why = made.error;
    stack = made.error ? undefined : made;
  }
  assert.ok(stack, why);
  return stack;
}

export async function api(method, path, body) {
  const response = await fetch(`${stack.url}${path}`, { method,
    headers: { "Content-Type": "application/json" },
    body: body && JSON.stringify(body) });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}

// No souls, no bodies, no conversations.
export async function emptied() {
  await api("DELETE", "/v1/users/demo-user/data");
}

export async function withSoul(name = "小元", terminal = "terminal-001") {
  const soul = await api("POST", "/v1/souls", { name, mbti_type: "ENFP" });
  await api("POST", "/v1/souls/select",
    { terminal_id: terminal, soul_id: soul.soul_id });
  return soul;
}

// A message to the services themselves.
export async function publish(subject, body) {
  const text = JSON.stringify(body);
  const socket = connect(stack.nats, "127.0.0.1");
  let reply = "";
  socket.setEncoding("utf8").on("data", (data) => { reply += data; });
  socket.write(`CONNECT {"verbose":false}\r\nPUB ${subject} ${
    Buffer.byteLength(text)}\r\n${text}\r\nPING\r\n`);
  await until(() => reply.includes("PONG"), `${subject} is sent`);
  socket.destroy();
}

// body-sim check of a body, for so long: connected, and ended with {status, text}.
export function bodyCheck(terminal, seconds = 25) {
  const child = spawn(`${process.env.STACK_BIN ?? "build/release/bin"}/body-sim`,
    ["check", "--terminal", terminal, "--broker", `mqtt://127.0.0.1:${stack.mqtt}`,
      "--seconds", seconds, "--invoke", "control_light", '{"mode":"on"}'],
    { stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  const connected = new Promise((resolve) => {
    for (const out of [child.stdout, child.stderr])
      out.setEncoding("utf8").on("data", (data) => {
        text += data;
        resolve();
      });
  });
  const ended = new Promise((resolve) => child.on("close", (status) => resolve({ status, text })));
  return { connected, ended };
}

export async function stopAll() {
  await browser?.close();
  if (stack) {
    stack.child.kill("SIGTERM");
    await stack.ended;
  }
  rmSync(dir, { recursive: true, force: true });
}

// ---- a proxy with faults ----

// Passes requests on; fault(request) may return a status with headers and a body,
// "cut" (the connection ends), or a path → JSON body to be sent instead.
export class Proxy {
  fault = () => null;
  requests = [];
  #sockets = new Set();

  static async start() {
    const proxy = new Proxy();
    proxy.port = await freePort();
    proxy.url = `http://127.0.0.1:${proxy.port}`;
    proxy.server = createServer((from, to) => proxy.#serve(from, to));
    proxy.server.on("upgrade", (from) => proxy.#pass(from));
    proxy.server.on("connection", (socket) => {
      proxy.#sockets.add(socket);
      socket.on("close", () => proxy.#sockets.delete(socket));
    });
    await new Promise((resolve) => proxy.server.listen(proxy.port, "127.0.0.1", resolve));
    return proxy;
  }

  // A WebSocket: bytes both ways.
  #pass(from) {
    const { socket } = from;
    this.requests.push(from);
    if (this.fault(from)) {
      socket.destroy();
      return;
    }
    const on = connect(stack.port, "127.0.0.1");
    const lines = [`${from.method} ${from.url} HTTP/1.1`];
    for (let i = 0; i < from.rawHeaders.length; i += 2)
      lines.push(`${from.rawHeaders[i]}: ${from.rawHeaders[i + 1]}`);
    on.write(`${lines.join("\r\n")}\r\n\r\n`);
    for (const [one, other] of [[on, socket], [socket, on]]) {
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
      one.pipe(other);
    }
  }

  #serve(from, to) {
    this.requests.push(from);
    const fault = this.fault(from);
    if (fault === "cut") {
      from.socket.destroy();
      return;
    }
    if (fault) {
      to.writeHead(fault.status ?? 200,
        { "Content-Type": "application/json", ...fault.headers });
      to.end(JSON.stringify(fault.body ?? { error: "simulated", code: "simulated",
        trace_id: "0123456789abcdef0123456789abcdef" }));
      return;
    }
    const on = request({ port: stack.port, host: "127.0.0.1", method: from.method,
      path: from.url, headers: from.headers }, (reply) => {
      to.writeHead(reply.statusCode, reply.headers);
      reply.pipe(to);
    });
    on.on("error", () => to.destroy());
    to.on("close", () => on.destroy());
    from.pipe(on);
  }

  // Ends all connections, as a network that goes away.
  cut() {
    this.#sockets.forEach((socket) => socket.destroy());
  }

  async stop() {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

// ---- pages ----

async function theBrowser() {
  browser ??= await chromium.launch({ executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
      "--disable-background-networking", "--no-first-run"] });
  return browser;
}

// A visitor: a profile of its own.  Errors, violations and requests to other hosts
// are in visitor.wrong; expected are texts of console errors that are no fault.
export class Visitor {
  wrong = [];

  static async open({ language = "en", url = stack.url, at = "", width = 1200,
    dark = false, expected = [], init } = {}) {
    const visitor = new Visitor();
    visitor.url = url;
    visitor.context = await (await theBrowser()).newContext({
      locale: language === "zh" ? "zh-CN" : "en-US",
      colorScheme: dark ? "dark" : "light", viewport: { width, height: 800 } });
    visitor.context.setDefaultTimeout(20000);
    visitor.expected = expected;
    if (init)
      await visitor.context.addInitScript(init);
    visitor.page = await visitor.tab(at);
    return visitor;
  }

  async tab(at = "") {
    const page = await this.context.newPage();
    page.on("console", (m) => {
      if (["error", "warning"].includes(m.type()) &&
          !this.expected.some((e) => m.text().includes(e)))
        this.wrong.push(`${m.type()}: ${m.text()}`);
    });
    page.on("pageerror", (e) => this.wrong.push(`exception: ${e.stack}`));
    page.on("request", (r) => {
      if (!r.url().replace(/^ws/, "http").startsWith(this.url) && !/^(blob|data):/.test(r.url()))
        this.wrong.push(`request: ${r.url()}`);
    });
    await page.goto(`${this.url}/${at}`);
    await page.locator("h1").waitFor().catch((e) => { console.log(this.wrong); throw e; });
    return page;
  }

  async go(page) {
    await this.page.goto(`${this.url}/#/${page}`);
    await this.page.locator(`main[data-page="${page.split("/")[0]}"] h1`).waitFor();
  }

  // What axe finds, as text; the policy lets no script in, so it is evaluated.
  async axe(page = this.page) {
    await page.evaluate(AXE);
    const { violations } = await page.evaluate(() => globalThis.axe.run(document,
      { resultTypes: ["violations"] }));
    return violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(" | ")}`);
  }

  async fits(page = this.page) {
    return page.evaluate(() =>
      document.documentElement.scrollWidth <= document.documentElement.clientWidth);
  }

  async close() {
    await this.context.close();
    assert.deepEqual(this.wrong, []);
  }
}

export { until };
