#!/usr/bin/env node
// pure: the parts of the console that need no browser, and its sizes.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { main, test } from "../web/test.mjs";

const ROOT = "services/chat-gateway/console";

// What the modules need of a browser when they are loaded.
const store = { getItem: () => null, setItem() {}, removeItem() {} };
Object.assign(globalThis, { location: { hash: "", pathname: "/" },
  localStorage: store, sessionStorage: store });
globalThis.navigator ??= { languages: ["en"] };
const { EventParser, Failure, backOff, query } = await import(`../../${ROOT}/lib/net.js`);
const { linePoints, scale } = await import(`../../${ROOT}/lib/plot.js`);
const { effect, scope, signal } = await import(`../../${ROOT}/lib/dom.js`);
const { name } = await import(`../../${ROOT}/lib/i18n.js`);
const { Mqtt, MqttError, PACKET_MAX, PacketReader, packet, readPublish } =
  await import(`../../${ROOT}/lib/mqtt.js`);
const { INTENTS, SKILLS, TabBody, alarmOf, lampOf, motionOf } =
  await import(`../../${ROOT}/lib/tab_body.js`);
const words = Object.fromEntries(await Promise.all(["en", "zh"].map(async (l) =>
  [l, (await import(`../../${ROOT}/words/${l}.js`)).default])));

const sources = readdirSync(ROOT, { recursive: true })
  .filter((f) => /\.(html|css|js|svg)$/.test(f))
  .map((f) => [f, readFileSync(join(ROOT, f), "utf8")]);

test("all of it has at most 80 KB, the first page 30 KB and 16 files", () => {
  const size = (files) => files.reduce((n, [, text]) => n + gzipSync(text).length, 0);
  const first = sources.filter(([f]) =>
    /^(index.html|app\..*|icon.svg|words.en.js|pages.home.js|lib.*)$/.test(f) &&
    !/plot|question|mqtt|device|tab_body/.test(f));
  console.log(`# ${size(sources)} bytes in ${sources.length} files; first page ` +
    `${size(first)} in ${first.length}`);
  assert.ok(size(sources) <= 80 * 1024);
  assert.ok(size(first) <= 30 * 1024);
  assert.ok(first.length <= 16);
});

test("both lists of words have the same keys and the same places", () => {
  assert.deepEqual(Object.keys(words.en), Object.keys(words.zh));
  for (const key of Object.keys(words.en)) {
    const places = (text) => (text.match(/\{\w+\}/g) ?? []).sort();
    assert.deepEqual(places(words.en[key]), places(words.zh[key]), key);
  }
});

test("every key that a page names is in the lists", () => {
  const named = sources.flatMap(([, text]) =>
    [...text.matchAll(/\bt\("([^"]+)"/g)].map(([, key]) => key));
  assert.ok(named.length > 100);
  assert.deepEqual(named.filter((key) => !(key in words.en)), []);
});

test("markup is made in one place, and nothing is loaded from elsewhere", () => {
  for (const [file, text] of sources) {
    assert.ok(file === join("lib", "dom.js") || !/innerHTML|insertAdjacent/.test(text), file);
    assert.ok(!/setAttribute\("style"|\beval\(|new Function/.test(text), file);
    const urls = text.match(/https?:\/\/[^\s"'`<…]+/g) ?? [];
    assert.deepEqual(urls.filter((u) => !/^http:\/\/(127\.0\.0\.1|www\.w3\.org\/2000\/svg)/.test(u)),
      [], file);
    assert.ok(file.startsWith("words") || text.split("\n").length <= 300,
      `${file} has over 300 lines`);
  }
});

test("a stream that is cut anywhere has the same events", () => {
  const text = ": ka\n\nid: 7\nevent: x\ndata: {\"a\":\ndata: 1}\n\nevent: y\r\ndata: 二\r\n\r\n" +
    "data:no blank\n\nid: 9\n\ndata: last\n\n";
  const whole = new EventParser().push(text);
  assert.deepEqual(whole.map(({ name: n, id, data }) => [n, id, data]),
    [["x", "7", "{\"a\":\n1}"], ["y", "", "二"], ["", "", "no blank"], ["", "", "last"]]);
  for (let i = 0; i <= text.length; i++)
    for (let j = i; j <= text.length; j += 7) {
      const p = new EventParser();
      assert.deepEqual([text.slice(0, i), text.slice(i, j), text.slice(j)]
        .flatMap((part) => p.push(part)), whole);
    }
  assert.deepEqual(new EventParser().push("data: unfinished\n"), []);
});

test("attempts are 0.5 s apart, doubled up to 15 s, and spread", () => {
  assert.deepEqual([0, 1, 2, 5, 50].map((n) => backOff(n, 0.5)),
    [500, 1000, 2000, 15000, 15000]);
  assert.equal(backOff(0, 0), 250);
  assert.equal(backOff(9, 1), 22500);
});

test("an error knows the field that it names", () => {
  const field = (error) => new Failure(400, { error }).field;
  assert.equal(field("/name: too long"), "name");
  assert.equal(field("/inputs/0/text: missing"), "text");
  assert.equal(field("terminal_id: must not have blanks"), "terminal_id");
  assert.equal(field("soul name already exists: x"), "");
  assert.equal(new Failure(0).message, "");
  assert.equal(query({ a: "", b: null, c: "x y", d: 0 }), "?c=x+y&d=0");
});

test("a sentence is marked by code points, and overlapping marks are left out", async () => {
  const { parts } = await import(`../../${ROOT}/pages/try.js`);
  const span = (start, end) => ({ span: { start, end } });
  assert.deepEqual(parts("😀开灯和关灯", [span(4, 6), span(1, 3), span(2, 5)]),
    [["😀", -1], ["开灯", 1], ["和", -1], ["关灯", 0]]);
  assert.deepEqual(parts("x", [{}]), [["x", -1]]);
});

test("a line has the jump of a cause, not a slope to it", () => {
  const items = [{ time: "2026-01-01T00:00:00Z", p: 0 },
    { time: "2026-01-01T00:01:00Z", p: 0.5, delta: { p: 0.4 } }];
  const at = Date.parse(items[1].time);
  assert.deepEqual(linePoints(items, "p").slice(1).map(([x, y]) => [x, Number(y.toFixed(6))]),
    [[at, 0.1], [at, 0.5]]);
  const put = scale(0, 100);
  assert.equal(put([0, 0])[1], 100);
  assert.ok(put([100, 5])[1] >= 0);
});

test("names from outside are short and hide nothing", () => {
  assert.equal(name("a\u202Eb\u0000"), "a‹202E›b‹0000›");
  assert.equal([...name("好".repeat(500))].length, 129);
  assert.equal(name(undefined), "");
});

test("an effect follows what it read, and ends with its scope", async () => {
  const [a, b] = [signal(1), signal(10)];
  const seen = [];
  const [, end] = scope(() => effect(() => seen.push(a.value > 1 ? b.value : 0)));
  b.value = 11;
  await null;
  a.value = 2;
  await null;
  b.value = 12;
  await null;
  end();
  b.value = 13;
  await null;
  assert.deepEqual(seen, [0, 11, 12]);
});

// ---- a tab as a body ----

// A WebSocket whose other end is the test.
class FakeSocket {
  readyState = 0;
  sent = [];

  open() {
    this.readyState = 1;
    this.onopen();
  }

  send(data) {
    this.sent.push(...this.reader.push(data));
  }

  reader = new PacketReader();

  receive(...packets) {
    for (const p of packets)
      this.onmessage?.({ data: p.buffer });
  }

  close() {
    this.readyState = 3;
  }
}

async function connected(handlers) {
  const socket = new FakeSocket();
  const client = new Mqtt(socket, handlers);
  const done = client.connect({ clientId: "tab", username: "tab", password: "secret",
    will: { topic: "t/online", payload: "offline" }, keepAlive: 30 });
  socket.open();
  socket.receive(packet(2, 0, [0, 0]));
  await done;
  return { socket, client };
}

test("packets of a stream that is cut anywhere are the same", () => {
  const long = new Uint8Array(300).fill(7);
  const stream = [packet(3, 2, [0, 1, 97, 0, 9], long), packet(13, 0), packet(4, 0, [1, 2])];
  const all = new Uint8Array(stream.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of stream) {
    all.set(p, at);
    at += p.length;
  }
  const shown = (packets) => packets.map(({ type, flags, body }) => [type, flags, [...body]]);
  const whole = shown(new PacketReader().push(all));
  assert.deepEqual(whole.map(([type, , body]) => [type, body.length]), [[3, 305], [13, 0], [4, 2]]);
  for (let cut = 0; cut <= all.length; cut++) {
    const r = new PacketReader();
    assert.deepEqual([...shown(r.push(all.subarray(0, cut))), ...shown(r.push(all.subarray(cut)))],
      whole);
  }
  const r = new PacketReader();
  assert.deepEqual([...all].flatMap((b) => shown(r.push(Uint8Array.of(b)))), whole);
});

test("packets that are too large, or are none, end the connection", async () => {
  assert.throws(() => new PacketReader().push(Uint8Array.of(48, 255, 255, 255, 255)), MqttError);
  const size = packet(3, 0, new Uint8Array(PACKET_MAX + 1)).subarray(0, 5);
  assert.throws(() => new PacketReader().push(size), /too large/);
  assert.throws(() => readPublish({ flags: 0, body: Uint8Array.of(0, 9, 97) }), MqttError);
  assert.throws(() => readPublish({ flags: 4, body: Uint8Array.of(0, 1, 97, 0, 1) }), MqttError);
  let end;
  const { socket } = await connected({ onEnd: (error) => { end = error; } });
  socket.receive(Uint8Array.of(48, 255, 255, 255, 255));
  assert.ok(end instanceof MqttError);
  assert.equal(socket.readyState, 3);
});

test("a client connects with its will, and confirms what it gets", async () => {
  const got = [];
  const { socket, client } = await connected({ onMessage: (m) => got.push(m) });
  const [connect] = socket.sent;
  assert.equal(new TextDecoder().decode(connect.body.subarray(12)),
    "tab\0\u0008t/online\0\u0007offline\0\u0003tab\0\u0006secret");
  assert.deepEqual([...connect.body.subarray(0, 12)],
    [0, 4, 77, 81, 84, 84, 4, 2 | 4 | 8 | 32 | 64 | 128, 0, 30, 0, 3]);
  socket.receive(packet(3, 2, [0, 3, 97, 47, 98, 0, 5], new TextEncoder().encode("你好")));
  assert.deepEqual(got, [{ topic: "a/b", qos: 1, id: 5, retain: false, payload: "你好" }]);
  assert.deepEqual([...socket.sent.at(-1).body], [0, 5]);
  // QoS 1 is done when the broker has it.
  let done = false;
  const sent = client.publish("a/b", "x", { qos: 1, retain: true }).then(() => { done = true; });
  const { flags, body } = socket.sent.at(-1);
  assert.equal(flags, 3);
  await Promise.resolve();
  assert.equal(done, false);
  socket.receive(packet(4, 0, body.subarray(5, 7)));
  await sent;
  await client.publish("a/b", "x");
  client.end();
  assert.equal(socket.sent.at(-1).type, 14);
  await assert.rejects(client.publish("a/b", "x"), /ended/);
});

test("what the broker refuses, and a lost connection, are errors", async () => {
  const socket = new FakeSocket();
  let end;
  const refused = new Mqtt(socket, { onEnd: (error) => { end = error; } })
    .connect({ clientId: "tab" });
  socket.open();
  socket.receive(packet(2, 0, [0, 5]));
  await assert.rejects(refused, { code: 5 });
  assert.equal(end.code, 5);
  const one = await connected({ onEnd: (error) => { end = error; } });
  const granted = one.client.subscribe(["a/+"]);
  one.socket.receive(packet(9, 0, [...one.socket.sent.at(-1).body.subarray(0, 2), 128]));
  await assert.rejects(granted, { code: 5 });
  const two = await connected({ onEnd: (error) => { end = error; } });
  const waiting = two.client.publish("a", "x", { qos: 1 });
  two.socket.onclose({ reason: "the server closed" });
  await assert.rejects(waiting, /the server closed/);
  assert.equal(end.code, 0);
});

test("words of a sentence are arguments of a skill, or an error with its place", () => {
  for (const [given, color] of [[{ mode: "on" }, "white"], [{ mode: "off", color: "red" }, "off"],
    [{ mode: "关灯" }, "off"], [{ mode: "变绿" }, "green"], [{ mode: "打开", color: "蓝" }, "blue"],
    [{ mode: "set_color", color: "red" }, "red"]])
    assert.equal(lampOf(given), color);
  assert.throws(() => lampOf({ mode: "set_color" }), /^Error: color: /);
  assert.throws(() => lampOf({ mode: "on", color: "plaid" }), /^Error: color: /);
  assert.throws(() => lampOf({ mode: "explode" }), /^Error: mode: /);
  const now = Date.parse("2026-01-02T03:04:05Z");
  assert.deepEqual(alarmOf({ trigger_in_seconds: "10", label: "tea" }, now),
    { due: now + 10000, label: "tea" });
  assert.equal(alarmOf({ trigger_at: "2026-01-02T12:00:00+08:00" }, now).due,
    Date.parse("2026-01-02T04:00:00Z"));
  for (const bad of [{}, { trigger_at: "soon" }, { trigger_in_seconds: -1 },
    { trigger_at: "2036-01-01T00:00:00Z" }])
    assert.throws(() => alarmOf(bad, now), /trigger_at/);
  assert.deepEqual(motionOf({ action: "点头" }), { motion: "nod", ms: 1500 });
  assert.throws(() => motionOf({ action: "nod" }), /action/);
  assert.throws(() => motionOf({ action: "点头", duration_seconds: 60 }), /duration/);
  const skills = SKILLS.map((s) => s.name);
  for (const intent of INTENTS)
    assert.ok(skills.includes(intent.slots[0].default), intent.id);
});

test("a body carries out each request once, its own only, and none while blocked", async () => {
  const did = [];
  const sent = [];
  const device = new Proxy({}, { get: (_, what) => (value) => { did.push([what, value]); } });
  const now = Date.parse("2026-01-02T03:04:05Z");
  const body = new TabBody("tab", device, (...args) => sent.push(args), () => now);
  const message = (name, payload, more) => body.message({ topic: `soul/terminal/tab/${name}`,
    payload: JSON.stringify(payload), retain: false, ...more });
  const invoke = (id, mode, more) => message(`invoke/${id}`,
    { request_id: id, skill: "control_light", arguments: { mode } }, more);
  await invoke("r1", "on");
  await invoke("r1", "on");
  await invoke("r2", "on", { retain: true });
  await message("invoke/r3", { request_id: "other", skill: "control_light" });
  assert.deepEqual(did, [["lamp", "white"]]);
  assert.deepEqual(sent.map(([name, { ok }]) => [name, ok]), [["result/r1", true], ["result/r1", true]]);
  await invoke("r4", "explode");
  assert.match(sent.at(-1)[1].error, /^mode: /);
  await message("invoke/r5", { request_id: "r5", skill: "dance" });
  assert.match(sent.at(-1)[1].error, /no such skill/);
  const action = (id, ts, terminal = "tab") => message("intent_action", { request_id: id,
    terminal_id: terminal, ts, intents: [{ normalized: { skill: "control_light", mode: "关灯" } }] });
  did.length = 0;
  await action("i1", "2026-01-02T03:04:00Z");
  await action("i1", "2026-01-02T03:04:00Z");
  await action("i2", "2026-01-02T03:03:50Z");
  await action("i3", "2026-01-02T03:04:00Z", "another");
  assert.deepEqual(did, [["lamp", "off"]]);
  const pad = { p: -0.5, a: 0.2, d: 0 };
  await message("emotion_update", { soul_emotion: pad, exec_mode: "blocked",
    session_id: "system_decay_tick", user_emotion: { emotion: "neutral" } });
  assert.deepEqual(did.at(-1), ["mood", { pad, mode: "blocked", emotion: "" }]);
  await invoke("r6", "on");
  assert.match(sent.at(-1)[1].error, /blocked/);
  await action("i4", "2026-01-02T03:04:05Z");
  assert.deepEqual(did.at(-1)[0], "status");
  await assert.rejects(message("status", undefined, { payload: "{" }));
});

await main();
