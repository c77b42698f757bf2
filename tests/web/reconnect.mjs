#!/usr/bin/env node
// reconnect: what a client does when its connection ends, with a real hub.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Hub, folder, main, next, rejection, test, until } from "./test.mjs";

const ENV = { id: "demo_world", type: "environment" };
const A = "env/demo_world/agent/agent_001";

test("clients come back by themselves after a kill -9 of the hub", async () => {
  const hub = await Hub.start();
  const env = await hub.client("env/demo_world");
  const bob = await hub.client("human/bob");
  await bob.join("demo_world");
  const closed = [env, bob].map((c) => next(c, "close"));
  const failed = next(bob, "error", (e) => e.code === "RECONNECTION_FAILED");
  await hub.process.kill("SIGKILL");
  for (const [{ code, retryMs }] of await Promise.all(closed)) {
    assert.equal(code, 1006);
    assert.ok(retryMs > 0);
  }
  await failed;
  const open = [env, bob].map((c) => next(c, "open"));
  await hub.run();
  for (const [{ resumed, lost }] of await Promise.all(open))
    assert.deepEqual([resumed, lost], [false, "unknown"]);
  // Bob is a member again, without asking for it.
  await until(async () => {
    const { members } = await env.request("get_members");
    return members.some(({ id }) => id === "bob");
  }, "bob has joined again");
});

test("what was sent and not confirmed is rejected, and never sent again",
  async () => {
    const hub = await Hub.start();
    const env = await hub.client("env/demo_world");
    const a = await hub.client(A);
    const seen = [];
    env.on("event", ({ event, data }) => event === "step" && seen.push(data.n));
    await a.event(ENV, "step", { n: 1 });
    process.kill(hub.process.pid, "SIGSTOP");
    const unknown = [a.event(ENV, "step", { n: 2 }), a.action(ENV, "move")]
      .map(rejection);
    const open = [env, a].map((c) => next(c, "open"));
    await hub.process.kill("SIGKILL");
    for (const error of await Promise.all(unknown)) {
      assert.equal(error.code, "CONNECTION_LOST");
      assert.equal(error.type, "delivery_unknown");
    }
    const error = await rejection(a.event(ENV, "step", { n: 3 }));
    assert.equal(error.type, "not_connected");
    await hub.run();
    await Promise.all(open);
    await a.event(ENV, "step", { n: 4 });
    await until(() => seen.includes(4), "the last step has come");
    assert.deepEqual(seen, [1, 4]);
  });

test("an action that was taken waits for its outcome no longer than the session",
  async () => {
    const hub = await Hub.start();
    const env = await hub.client("env/demo_world");
    const a = await hub.client(A);
    const came = next(env, "action");
    const outcome = rejection(a.action(ENV, "move"));
    await came;
    await hub.process.kill("SIGKILL");
    await hub.run();
    assert.equal((await outcome).type, "delivery_unknown");
  });

test("a restarted hub's clients come back", async () => {
  const hub = await Hub.start();
  const a = await hub.client(A);
  const closed = next(a, "close");
  const open = next(a, "open");
  await hub.process.kill("SIGTERM");
  assert.equal((await closed)[0].code, 1001);
  await hub.run();
  await open;
});

test("who is replaced does not fight for its id", async () => {
  const hub = await Hub.start();
  const first = await hub.client(A);
  const closed = next(first, "close");
  const second = await hub.client(A);
  const [{ code, retryMs }] = await closed;
  assert.equal(code, 4409);
  assert.equal(retryMs, undefined);
  assert.equal(first.state, "closed");
  await second.action({ id: "hub", type: "hub" }, "ping");
  assert.equal(second.state, "open");
});

test("a client that sends too much gets an error, is closed, and stays away", async () => {
  const hub = await Hub.start({ STAR_RATE: "1", STAR_RATE_BURST: "1" });
  const a = await hub.client(A);
  const error = next(a, "error", (e) => e.code === "RATE_LIMITED");
  const closed = next(a, "close");
  const timer = setInterval(() => {
    for (let i = 0; i < 5; i++)
      a.event(ENV, "noise");
  }, 100);
  await error;
  const [{ code, retryMs }] = await closed.finally(() => clearInterval(timer));
  assert.equal(code, 1008);
  assert.equal(retryMs, undefined);
});

test("a token is sent as a subprotocol; without one the connection ends", async () => {
  const file = join(folder(), "tokens.json");
  const token = "alice-0123456789abcdef0123456789";
  const { createHash } = await import("node:crypto");
  writeFileSync(file, JSON.stringify({ tokens: [{
    sha256: createHash("sha256").update(token).digest("hex"),
    role: "owner", tenant: "one", user: "alice" }] }));
  const hub = await Hub.start({ AUTH_TOKENS: file });
  await hub.client(A, { token });
  const b = hub.dial("env/demo_world/agent/agent_002",
    { token: "nobody-0123456789abcdef0123456789", attempts: 1 });
  const [error] = await next(b, "error", (e) => e.details.retryMs === undefined);
  assert.equal(error.code, "CONNECTION_FAILED");
  assert.equal(b.state, "closed");
  // It may send one in a message, for a while.
  const c = hub.dial("env/demo_world/agent/agent_003");
  const [{ code, retryMs }] = await next(c, "close");
  assert.equal(code, 1008);
  assert.equal(retryMs, undefined);
});

await main();
