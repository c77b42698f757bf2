// test: what the tests of the browser client share: a runner, waiting, real hubs.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { appendFileSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { connect as connectTcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../testkit/wait.mjs";
import { connect as starConnect } from "../../services/star-hub/web/star.js";

const LIMIT_MS = 60000;
const BIN = process.env.STAR_BIN ?? "build/release/bin";

export const WebSocket = globalThis.WebSocket ??
  createRequire(`${process.cwd()}/build/web/`)("ws");

// ---- the runner ----

const tests = [];
let cleanups = [];

// With an argument: only tests with that part in their name.
export function test(name, run) {
  if (name.includes(process.argv[2] ?? ""))
    tests.push({ name, run });
}

function report(line) {
  console.log(line);
  if (process.env.CK_TAP_LOG_FILE_NAME)
    appendFileSync(process.env.CK_TAP_LOG_FILE_NAME, `${line}\n`);
}

function limit(promise, ms, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(Error(`${what}: nothing after ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// Runs all tests of the file, one after the other, then end(), and ends the process.
export async function main(end = () => {}) {
  let bad = 0;
  for (const [i, { name, run }] of tests.entries()) {
    try {
      await limit(run(), LIMIT_MS, name);
      report(`ok ${i + 1} - ${name}`);
    } catch (error) {
      bad++;
      report(`not ok ${i + 1} - ${name}`);
      console.log(error);
    }
    for (const undo of cleanups.reverse())
      await undo();
    cleanups = [];
  }
  await end();
  process.exit(bad > 0 ? 1 : 0);
}

// ---- waiting ----

// The next event of a client for which matches(…) is true: its arguments.
export function next(star, name, matches = () => true) {
  return limit(new Promise((resolve) => {
    const off = star.on(name, (...args) => {
      if (matches(...args)) {
        off();
        resolve(args);
      }
    });
  }), 20000, name);
}

export async function until(condition, what) {
  const end = Date.now() + 20000;
  while (!await condition()) {
    assert.ok(Date.now() < end, `${what}: not in time`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export async function rejection(promise) {
  return promise.then(
    (value) => assert.fail(`resolved with ${JSON.stringify(value)}`),
    (error) => error);
}

// ---- programs ----

export { freePort };

// A temporary folder of this test.
export function folder() {
  const dir = mkdtempSync(join(tmpdir(), "web-"));
  cleanups.push(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

// A process of this test; kill() it, or it is killed at the end.
export function start(command, args, env = {}) {
  const log = join(folder(), "log");
  const fd = openSync(log, "a");
  const child = spawn(command, args,
    { stdio: ["ignore", fd, fd], env: { ...process.env, ...env }, detached: true });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const kill = (signal = "SIGKILL") => {
    // With all its children.
    if (child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, signal);
    return ended;
  };
  cleanups.push(() => kill());
  return { kill, pid: child.pid, log: () => readFileSync(log, "utf8") };
}

async function answers(port, request, reply) {
  return new Promise((resolve) => {
    const socket = connectTcp(port, "127.0.0.1", () => socket.write(request));
    socket.on("error", () => resolve(false));
    socket.on("data", (data) => {
      resolve(String(data).includes(reply));
      socket.destroy();
    });
  });
}

// The URLs of a NATS and a Redis.
async function servers() {
  const dir = folder();
  const [nats, redis] = [await freePort(), await freePort()];
  start("nats-server", ["-a", "127.0.0.1", "-p", nats, "-js", "-sd", dir]);
  start("redis-server", ["--bind", "127.0.0.1", "--port", redis, "--save", "",
    "--dir", dir]);
  await until(() => answers(nats, "", "INFO"), "NATS is ready");
  await until(() => answers(redis, "PING\r\n", "PONG"), "Redis is ready");
  return { NATS_URL: `nats://127.0.0.1:${nats}`,
    REDIS_URL: `redis://127.0.0.1:${redis}` };
}

// ---- hubs ----

export class Hub {
  // With a NATS and a Redis of its own; with those of another hub: its replica.
  static async start(env = {}, other) {
    const hub = new Hub();
    hub.servers = other?.servers ?? await servers();
    hub.env = env;
    hub.port = await freePort();
    hub.admin = await freePort();
    await hub.run();
    return hub;
  }

  async run() {
    this.process = start(`${BIN}/star-hub`, [], {
      HTTP_ADDR: `127.0.0.1:${this.port}`,
      ADMIN_ADDR: `127.0.0.1:${this.admin}`,
      ...this.servers,
      ...this.env,
    });
    await until(async () => (await fetch(
      `http://127.0.0.1:${this.admin}/readyz`).catch(() => null))?.ok,
    "the hub is ready").catch((e) => {
      throw Error(`${e.message}\n${this.process.log()}`);
    });
  }

  // A client that is open; path is "human/bob".
  async client(path, options = {}) {
    const star = this.dial(path, options);
    await next(star, "open");
    return star;
  }

  dial(path, options = {}) {
    const star = starConnect(`ws://127.0.0.1:${this.port}/${path}`,
      { WebSocket, backoff: 50, backoffMax: 500, ...options });
    // Tests that look for errors have listeners of their own.
    star.on("error", () => {});
    cleanups.push(() => star.close());
    return star;
  }
}
