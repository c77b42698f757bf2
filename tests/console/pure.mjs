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
const words = Object.fromEntries(await Promise.all(["en", "zh"].map(async (l) =>
  [l, (await import(`../../${ROOT}/words/${l}.js`)).default])));

const sources = readdirSync(ROOT, { recursive: true })
  .filter((f) => /\.(html|css|js|svg)$/.test(f))
  .map((f) => [f, readFileSync(join(ROOT, f), "utf8")]);

test("all of it has at most 80 KB, the first page 30 KB and 16 files", () => {
  const size = (files) => files.reduce((n, [, text]) => n + gzipSync(text).length, 0);
  const first = sources.filter(([f]) =>
    /^(index.html|app\..*|icon.svg|words.en.js|pages.home.js|lib.*)$/.test(f) &&
    !/plot|question/.test(f));
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

await main();
