#!/usr/bin/env node
// session: resuming, cursors and gaps: what a client makes of frames, in words of a
// hub that the tests play themselves.
import assert from "node:assert/strict";
import { connect } from "../../services/star-hub/web/star.js";
import { main, next, rejection, test, until } from "./test.mjs";

const ENV = { id: "demo_world", type: "environment" };
const URL_A = "ws://hub.example/env/demo_world/agent/agent_001";

// The sockets of a client, newest last; the test is the hub.
class FakeSocket {
  static all;

  constructor(url, protocols) {
    this.params = Object.fromEntries(new URL(url).searchParams);
    this.protocols = protocols;
    this.sent = [];
    FakeSocket.all.push(this);
  }

  send(text) {
    this.sent.push(JSON.parse(text));
  }

  close(code) {
    this.closed = code;
  }

  get(message) {
    this.onmessage({ data: JSON.stringify(message) });
  }

  greet(payload = {}) {
    this.get({ type: "heartbeat", sender: { id: "hub", type: "hub" },
      payload: { session: "s1", resume: { ms: 30000, frames: 256 }, ...payload } });
  }

  event(cursor, n) {
    this.get({ type: "message", sender: ENV, recipient: { id: "*", type: "agent" },
      payload: { type: "event", id: `e${n}`, event: "tick", data: { n } },
      cursor });
  }

  // As the hub answers pings.
  pong() {
    const { message_id } = this.sent.findLast(
      ({ payload }) => payload.action === "ping");
    this.get({ type: "message", sender: { id: "hub", type: "hub" },
      payload: { type: "outcome", id: message_id, outcome: {} } });
  }
}

function client(options = {}) {
  FakeSocket.all = [];
  const star = connect(URL_A,
    { WebSocket: FakeSocket, backoff: 1, backoffMax: 4, ...options });
  star.on("error", () => {});
  return star;
}

async function socket(n) {
  await until(() => FakeSocket.all.length >= n, `connection ${n}`);
  return FakeSocket.all[n - 1];
}

test("a connection that broke is resumed after the last frame", async () => {
  const star = client();
  const [first] = FakeSocket.all;
  const seen = [];
  star.on("event", ({ data }) => seen.push(data.n));
  assert.deepEqual(first.params, {});
  first.greet();
  first.event(undefined, 1);
  first.get({ type: "heartbeat", sender: { id: "hub", type: "hub" }, payload: {} });
  first.event(undefined, 2);
  first.onclose({ code: 1006, reason: "" });
  const second = await socket(2);
  assert.deepEqual(second.params, { session: "s1", last: "2" });
  const open = next(star, "open");
  second.greet({ resumed: true });
  assert.equal((await open)[0].resumed, true);
  second.event(undefined, 3);
  second.onclose({ code: 1001, reason: "" });
  assert.deepEqual((await socket(3)).params, { session: "s1", last: "3" });
  assert.deepEqual(seen, [1, 2, 3]);
  star.close();
});

test("a session that is lost is reported, and the next one counts from 0", async () => {
  const star = client();
  const [first] = FakeSocket.all;
  first.greet();
  first.event(undefined, 1);
  first.onclose({ code: 1006, reason: "" });
  const second = await socket(2);
  const gap = next(star, "gap");
  const open = next(star, "open");
  second.greet({ session: "s2", resumed: false, lost: 7 });
  assert.deepEqual(await open, [{ resumed: false, hub: undefined, lost: 7 }]);
  assert.deepEqual(await gap, [{ why: "not_resumed", lost: 7 }]);
  second.onclose({ code: 1006, reason: "" });
  assert.deepEqual((await socket(3)).params, { session: "s2", last: "0" });
  star.close();
});

test("an outcome may come on the resumed connection", async () => {
  const star = client();
  const [first] = FakeSocket.all;
  first.greet();
  const outcome = star.action(ENV, "move");
  const { message_id } = first.sent[0];
  await until(() => first.sent.length === 2, "the ping");
  first.pong();
  await new Promise(setImmediate); // as between two events of a socket
  first.onclose({ code: 1006, reason: "" });
  const second = await socket(2);
  second.greet({ resumed: true });
  second.get({ type: "message", sender: ENV, payload: { type: "outcome",
    id: message_id, outcome: { status: "success" } } });
  assert.deepEqual(await outcome, { status: "success" });
  assert.deepEqual(second.sent, []);
  star.close();
});

test("an outcome is believed of the one who was asked", async () => {
  const star = client();
  const [hub] = FakeSocket.all;
  hub.greet();
  const outcome = star.action(ENV, "move");
  const payload = { type: "outcome", id: hub.sent[0].message_id };
  hub.get({ type: "message", sender: { id: "demo_world", type: "agent" },
    payload: { ...payload, outcome: "forged" } });
  hub.get({ type: "message", sender: ENV, payload: { ...payload, outcome: "real" } });
  assert.equal(await outcome, "real");
  star.close();
});

test("a broadcast is seen once, and history is asked for from its cursor",
  async () => {
    const star = client({ cursor: "1-40" });
    const [first] = FakeSocket.all;
    const seen = [];
    star.on("event", ({ data }) => seen.push(data.n));
    assert.deepEqual(first.params, { cursor: "1-40" });
    first.greet({ resume: { ms: 0, frames: 0 } });
    for (const [cursor, n] of [["1-40", 40], ["1-41", 41], ["1-41", 41],
      ["2-42", 42], ["1-43", 0]])
      first.event(cursor, n);
    assert.deepEqual(seen, [41, 42]);
    assert.equal(star.cursor(), "2-42");
    first.onclose({ code: 1006, reason: "" });
    const second = await socket(2);
    assert.deepEqual(second.params, { cursor: "2-42" });
    const gap = next(star, "gap", ({ why }) => why === "history_expired");
    second.greet({ gap: true });
    assert.equal((await gap)[0].env_id, "demo_world");
    star.close();
  });

const reply = (hub, outcome) => {
  const { message_id } = hub.sent.findLast(
    ({ payload }) => payload.stream === "get_history");
  hub.get({ type: "message", sender: { id: "hub", type: "hub" },
    payload: { type: "outcome", id: message_id, outcome } });
};

const historyRequests = (hub) =>
  hub.sent.filter(({ payload }) => payload.stream === "get_history")
    .map(({ payload }) => payload.data.after);

test("a long history is read page by page, before what comes meanwhile",
  async () => {
    const star = client({ cursor: "1-40" });
    const [hub] = FakeSocket.all;
    const seen = [];
    star.on("event", ({ data }) => seen.push(data.n));
    const event = (cursor, n, type = "agent") => ({ type: "message", sender: ENV,
      recipient: { id: "*", type }, cursor,
      payload: { type: "event", id: `e${n}`, event: "tick", data: { n } } });
    hub.greet({ gap: false, more: true });
    hub.event("1-41", 41); // what the hub sends by itself, then a new one
    hub.event("1-99", 99);
    reply(hub, { gap: false, more: true, cursor: "1-42",
      events: [event("1-41", 41), event("1-42", 42, "human")] });
    await until(() => historyRequests(hub).length === 2, "the next page");
    assert.deepEqual(historyRequests(hub), ["1-40", "1-42"]);
    reply(hub, { gap: false, more: false, cursor: "1-43",
      events: [event("1-43", 43)] });
    await until(() => seen.includes(99), "the new one");
    assert.deepEqual(seen, [41, 43, 99]);
    star.close();
  });

test("a history that cannot be read is a gap", async () => {
  const star = client({ cursor: "1-40" });
  const [hub] = FakeSocket.all;
  const gap = next(star, "gap");
  hub.greet({ gap: false, more: true });
  const { message_id } = hub.sent[0];
  hub.event("1-99", 99);
  const event = next(star, "event");
  hub.get({ type: "error", sender: { id: "hub", type: "hub" }, payload: {
    error_code: "CONNECTION_ERROR", error_type: "x", message: "Redis is away",
    details: { original_message_id: message_id } } });
  assert.equal((await gap)[0].why, "history_unknown");
  assert.equal((await event)[0].data.n, 99);
  star.close();
});

test("dropped messages are a gap", async () => {
  const star = client();
  const [hub] = FakeSocket.all;
  hub.greet();
  const gap = next(star, "gap");
  hub.get({ type: "message", sender: { id: "hub", type: "hub" }, payload:
    { type: "event", id: "h1", event: "messages_dropped", data: { count: 3 } } });
  assert.deepEqual(await gap, [{ why: "messages_dropped", count: 3 }]);
  star.close();
});

test("it gives up after that many attempts", async () => {
  const star = client({ attempts: 2 });
  const errors = [];
  star.on("error", (error) => errors.push([error.code, error.details.attempt]));
  for (let i = 1; i <= 3; i++)
    (await socket(i)).onclose({ code: 1006, reason: "" });
  assert.deepEqual(errors, [["CONNECTION_FAILED", 1], ["CONNECTION_FAILED", 2],
    ["CONNECTION_FAILED", 3]]);
  assert.equal(star.state, "closed");
});

test("a silent connection is dead", async () => {
  const star = client({ heartbeat: 300 });
  const [first] = FakeSocket.all;
  first.greet();
  const sent = rejection(star.event(ENV, "x"));
  const [{ code }] = await next(star, "close");
  assert.equal(code, 1006);
  assert.ok(first.sent.some(({ type }) => type === "heartbeat"));
  assert.equal((await sent).type, "delivery_unknown");
  star.close();
});

test("after close() nothing happens any more", async () => {
  const star = client();
  const [first] = FakeSocket.all;
  first.greet();
  const outcome = rejection(star.action(ENV, "move"));
  star.close();
  assert.equal(first.closed, 1000);
  assert.equal((await outcome).code, "CONNECTION_LOST");
  first.onclose({ code: 1000, reason: "" });
  first.onmessage({ data: "{}" });
  assert.equal((await rejection(star.event(ENV, "x"))).type, "not_connected");
  assert.equal(FakeSocket.all.length, 1);
});

test("a URL that names nobody is refused at once", () => {
  for (const path of ["", "env", "env/a/b", "human", "env/a/agent"])
    assert.throws(() => connect(`ws://h/${path}`, { WebSocket: FakeSocket }),
      { code: "VALIDATION_ERROR" });
  assert.equal(connect("http://h/star/human/%E4%B8%AD%E6%96%87%E4%BA%BA",
    { WebSocket: FakeSocket }).identity.id, "中文人");
  return Promise.resolve();
});

await main();
