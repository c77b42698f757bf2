#!/usr/bin/env node
// stories: what programs on the published SDK do, through star.js and a real hub, or
// as many replicas as STAR_HUBS says, with clients on each.
import assert from "node:assert/strict";
import { Hub, main, next, rejection, test, until } from "./test.mjs";

const ENV = { id: "demo_world", type: "environment" };
const A = "env/demo_world/agent/agent_001";
const B = "env/demo_world/agent/agent_002";

async function world(...paths) {
  const hubs = [await Hub.start()];
  while (hubs.length < (process.env.STAR_HUBS ?? 1))
    hubs.push(await Hub.start({}, hubs[0]));
  const clients = [];
  let joined = 0;
  for (const [i, path] of ["env/demo_world", ...paths].entries()) {
    clients.push(await hubs[i % hubs.length].client(path));
    if (i === 0)
      clients[0].on("event", ({ event }) => {
        joined += event === "agent_joined";
      });
  }
  // What it sends to all before it knows of an agent does not reach that one.
  const agents = paths.filter((path) => path.includes("/agent/")).length;
  await until(() => joined === agents, "all agents have joined");
  return clients;
}

test("an action has its outcome", async () => {
  const [env, a] = await world(A);
  env.on("action", (action, message) => env.outcome(message,
    { status: "success", message: `${action.parameters.n} berries` }));
  const outcome = await a.action(ENV, "pick_berries", { n: 2 });
  assert.deepEqual(outcome, { status: "success", message: "2 berries" });
});

test("a ping has its pong", async () => {
  const [, a] = await world(A);
  const outcome = await a.action({ id: "server", type: "hub" }, "ping");
  assert.equal(outcome.message, "pong");
});

test("an event reaches all agents", async () => {
  const [env, a, b] = await world(A, B);
  for (const to of [{ id: "*", type: "agent" },
    { id: "env_demo_world_all", type: "hub" }, { id: "all", type: "hub" }]) {
    const got = [a, b].map((c) =>
      next(c, "event", ({ event }) => event === "world_update"));
    await env.event(to, "world_update", { n: 1 });
    for (const [event] of await Promise.all(got))
      assert.deepEqual(event.data, { n: 1 });
  }
});

test("agents have a dialogue", async () => {
  const [, a, b] = await world(A, B);
  const got = next(b, "event", ({ event }) => event === "dialogue");
  await a.event({ id: "agent_002", type: "agent" }, "dialogue",
    { message: "你好" });
  const [event, message] = await got;
  assert.equal(event.data.message, "你好");
  assert.deepEqual(message.sender, { id: "agent_001", type: "agent" });
  const reply = next(a, "event", ({ event: name }) => name === "dialogue");
  await b.event(message.sender, "dialogue", { message: "hello" });
  assert.equal((await reply)[0].data.message, "hello");
});

test("a human joins by an action to the environment, or a request to the hub",
  async () => {
    const [env, bob] = await world("human/bob");
    env.on("action", (action, message) =>
      env.outcome(message, { status: "success" }));
    const outcome = await bob.action(ENV, "join_environment",
      { env_id: "demo_world" });
    assert.equal(outcome.status, "success");
    await bob.join("demo_world");
    const { members } = await bob.request("get_members", { env_id: "demo_world" });
    assert.deepEqual(members, [{ id: "bob", type: "human" }]);
    const { environments } = await bob.request("get_environments");
    assert.deepEqual(environments,
      [{ id: "demo_world", client_count: 1, up: true }]);
  });

test("an error rejects the promise of its message, and of no other", async () => {
  const [, a] = await world(A);
  const sent = [
    a.event({ id: "agent_009", type: "agent" }, "dialogue"),
    a.event(ENV, "dialogue"),
    a.event({ id: "demo_world", type: "robot" }, "dialogue"),
    a.event({ id: "*", type: "agent" }, "dialogue"),
  ];
  const errors = [];
  a.on("error", (error) => errors.push(error));
  const got = await Promise.allSettled(sent);
  assert.deepEqual(got.map(({ reason }) => reason?.code),
    ["CONNECTION_ERROR", undefined, "INVALID_CLIENT_TYPE", "PERMISSION_DENIED"]);
  assert.equal(got[0].reason.type, "target_not_found");
  assert.ok(got[0].reason.details.suggested_action.length > 0);
  assert.equal(errors.length, 3);
});

test("an action without an outcome is not confirmed", async () => {
  const [, a] = await world(A);
  const error = await rejection(a.action(ENV, "wait", {}, { timeout: 200 }));
  assert.equal(error.code, "ACTION_FAILED");
  assert.equal(error.type, "timeout");
});

test("an unknown request is rejected with its error", async () => {
  const [, a] = await world(A);
  const error = await rejection(a.request("get_weather"));
  assert.equal(error.code, "VALIDATION_ERROR");
});

await main();
