#!/usr/bin/env node
// pages: every page of the console in Chromium, in both languages and themes, empty,
// full, with many rows and hostile names.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { main, test, until } from "../web/test.mjs";
import { Proxy, Visitor, api, emptied, stopAll, theStack, withSoul } from "./drive.mjs";

const PAGES = ["home", "soul", "chat", "turns", "bodies", "browser", "memories", "alarms", "try", "runs", "tools",
  "evolutions", "star", "identities", "system", "audit", "settings"];
const HOSTILE = "<img src=x onerror=alert(1)>\u202Etxt.exe" + "x".repeat(90);
const PICTURES = "build/console/pictures";
const AT = "2026-01-02T03:04:05Z";

// Axe finds nothing, and the page fits a phone.
async function check(visitor, what) {
  await until(async () => !/Loading|加载中/.test(
    await visitor.page.locator("main").innerText()), `${what} is loaded`);
  assert.deepEqual(await visitor.axe(), [], what);
  assert.ok(await visitor.fits(), `${what} is too wide`);
}

await theStack();

for (const [language, dark] of [["en", false], ["zh", true]]) {
  test(`pages are accessible and fit a phone, empty: ${language}`, async () => {
    await emptied();
    const visitor = await Visitor.open({ language, dark, width: 360, expected: ["404"] });
    assert.equal(await visitor.page.evaluate(() => document.documentElement.lang),
      language === "zh" ? "zh-CN" : "en");
    for (const page of PAGES) {
      await visitor.go(page);
      await check(visitor, page);
    }
    await visitor.close();
  });

  test(`pages are accessible and fit a phone, in use: ${language}`, async () => {
    await emptied();
    await withSoul();
    await api("POST", "/v1/chat", { session_id: `a11y-${language}`,
      terminal_id: "terminal-001",
      inputs: [{ type: "keyboard_text", text: "把灯变成绿色" }] });
    const visitor = await Visitor.open({ language, dark, width: 360, expected: ["404"] });
    for (const page of [...PAGES, "body/terminal-001"]) {
      await visitor.go(page);
      await check(visitor, page);
    }
    await visitor.close();
  });
}

for (const language of ["en", "zh"])
  test(`no page shows a key instead of its text: ${language}`, async () => {
    await emptied();
    await withSoul();
    const visitor = await Visitor.open({ language, expected: ["404"] });
    for (const page of [...PAGES, "body/terminal-001"]) {
      await visitor.go(page);
      await until(async () => !/Loading|加载中/.test(
        await visitor.page.locator("main").innerText()), `${page} is loaded`);
      const text = await visitor.page.locator("body").innerText();
      assert.doesNotMatch(text,
        /\b(page|home|chat|mood|axis|drive|trait|exec|live|identity|memory|run|star|alarm|rule|system|try|turns?|evolution|device|lamp)\.[a-z]/);
    }
    await visitor.close();
  });

test("ten thousand bodies are fifty rows, and the filter finds one", async () => {
  await emptied();
  await withSoul();
  const proxy = await Proxy.start();
  const items = Array.from({ length: 10000 }, (_, i) => ({ terminal_id: `body-${i}`,
    online: i % 2 === 0, last_seen: AT, skill_version: 1, skills: [], catalog_version: 0,
    intents: [] }));
  proxy.fault = ({ url }) => url === "/v1/terminals" ? { body: { items } } : null;
  const visitor = await Visitor.open({ url: proxy.url });
  await visitor.go("bodies");
  await visitor.page.locator("main tbody tr").first().waitFor();
  assert.equal(await visitor.page.locator("main tbody tr").count(), 50);
  await visitor.page.getByRole("button", { name: "Next" }).click();
  await visitor.page.getByText("body-50", { exact: true }).waitFor();
  await visitor.page.locator(".filter").fill("body-9999");
  await until(async () => await visitor.page.locator("main tbody tr").count() === 1, "one row");
  assert.match(await visitor.page.locator("main tbody tr").innerText(), /body-9999/);
  await visitor.close();
  await proxy.stop();
});

// Each list with hostile texts in every member.
const LISTS = {
  "/v1/souls": { user_id: "u", items: [{ soul_id: "s1", user_id: "u", name: HOSTILE,
    mbti_type: "ENFP", model_version: HOSTILE.slice(0, 64), created_at: AT, updated_at: AT,
    personality_vector: { empathy: 0, sensitivity: 0, stability: 0, expressiveness: 0,
      dominance: 0 }, emotion_state: { p: 1, a: -1, d: 1 } }] },
  "/v1/terminals": { items: [{ terminal_id: HOSTILE, online: true, last_seen: AT,
    broker: HOSTILE, skill_version: 1, skills: [HOSTILE], catalog_version: 1,
    intents: [HOSTILE], soul_id: "s1", user_id: "u",
    last_refused: { kind: "skills", outcome: "refused", path: HOSTILE, reason: HOSTILE,
      at: AT } }] },
  "/v1/memories": { items: [{ memory_id: "m1", soul_id: "s1", text: HOSTILE, type: "fact",
    created_at: AT, superseded_by: "m2" }], next: "n" },
  "/v1/sessions": { items: [{ session_id: "s1", terminal_id: HOSTILE, last_activity: AT,
    messages: 1, last_text: HOSTILE }], next: "n" },
  "/v1/turns": { items: [{ turn_id: "t1", session_id: "s", terminal_id: HOSTILE,
    state: "failed", code: "x", started_at: AT, total_ms: 1, user_text: HOSTILE,
    confirmed: 0, unconfirmed: 1 }], next: "n" },
  "/v1/alarms": { alarms: [{ alarm_id: "a1", user_id: "u", kind: "action", text: HOSTILE,
    rule: { kind: "daily", at: "08:00" }, zone: HOSTILE.slice(0, 64), state: "missed",
    reason: "no_body", occurred_at: AT, last_state: "missed", next_at: AT, attempts: 1,
    action: { request_text: HOSTILE, intents: [{ intent_id: HOSTILE, confidence: 1,
      normalized: { skill: HOSTILE } }] }, created_at: AT, updated_at: AT }] },
  "/v1/runs": { items: [{ run_id: "r1", user_id: "u", engine: HOSTILE, mode: "auto",
    title: HOSTILE, state: "failed", attempt: 1, created_at: AT }] },
  "/v1/engines": { items: [{ engine: HOSTILE, places: 1, free: 1, runners: [] }] },
  "/v1/mcp/servers": { servers: [{ name: HOSTILE, owner: "user", kind: "http",
    state: "unknown", tools: 1, error: HOSTILE }] },
  "/v1/mcp/tools": { tools: [{ name: HOSTILE, server: HOSTILE, tool: HOSTILE,
    description: HOSTILE, policy: "ask", changed: true, definition: "d" }], total: 1 },
  "/v1/interactions": { interactions: [{ interaction_id: "i1", session_id: "s",
    kind: "single_choice", prompt: HOSTILE, options: [{ value: HOSTILE, label: HOSTILE }],
    tool: { name: HOSTILE, server: HOSTILE, tool: HOSTILE, arguments: { x: HOSTILE } } }] },
  "/v1/evolutions": { evolutions: [{ evolution_id: "e1", user_id: "u", soul_id: HOSTILE,
    cycle_id: "c", need: HOSTILE, why: HOSTILE, example: HOSTILE, state: "proposed",
    proposal: { name: HOSTILE, title: HOSTILE, description: HOSTILE, definition: "d" },
    steps: [{ state: "asked", at: AT, by: HOSTILE, reason: HOSTILE }], step_count: 1,
    created_at: AT }] },
  "/v1/star/environments": { items: [{ env_id: HOSTILE, members: 1 }], truncated: false,
    agents: 1, environments: 1, humans: 1, hubs: 1 },
  "/v1/status": { version: HOSTILE.slice(0, 64), at: AT, ok: false, services: [
    { name: HOSTILE.slice(0, 64), instance: "i", version: HOSTILE.slice(0, 64), ready: false,
      since: AT, status: HOSTILE }] },
  "/v1/identities": { items: [{ terminal_id: HOSTILE, user_id: HOSTILE, certificate: false,
    revoked: false, created_at: AT, changed_at: AT }] },
  "/v1/events": { items: [{ seq: 1, event: { trace_id: "t", type: "audit", source: "s",
    payload: { action: "login_refused", caller_id: HOSTILE, terminal_id: HOSTILE,
      reason: HOSTILE }, meta: { timestamp: 1 } } }], cursor: 1, more: false },
};

test("hostile names are text in every column", async () => {
  const proxy = await Proxy.start();
  proxy.fault = ({ url, method }) => {
    const body = method === "GET" && LISTS[url.split("?")[0]];
    return body ? { body } : null;
  };
  const visitor = await Visitor.open({ url: proxy.url, width: 360,
    expected: ["404", "400"] });
  await visitor.page.evaluate(() => { globalThis.alert = () => { throw Error("run"); }; });
  for (const page of PAGES) {
    await visitor.go(page);
    if (!["settings", "try", "browser"].includes(page))
      await visitor.page.getByText("<img src=x").first().waitFor();
    assert.equal(await visitor.page.locator("main img").count(), 0, page);
    assert.ok(await visitor.fits(), `${page} is too wide`);
    if (page === "bodies")
      assert.match(await visitor.page.locator("main").innerText(), /‹202E›/);
  }
  await visitor.close();
  await proxy.stop();
});

// An hour of a soul: what was said, and when; the rest decays.
function anHour() {
  const said = [[55, "joy", 0.5, 0.3, 0.1], [42, "anger", -0.7, 0.4, -0.2],
    [33, "sadness", -0.2, -0.3, -0.2], [20, "gratitude", 0.6, 0.1, 0.2],
    [8, "joy", 0.3, 0.2, 0.1]];
  const at = { p: 0.2, a: 0.1, d: 0.1 };
  return Array.from({ length: 56 }, (_, i) => 55 - i).map((minute) => {
    const [, emotion, ...by] = said.find(([m]) => m === minute) ?? [];
    const delta = { p: by[0] ?? 0, a: by[1] ?? 0, d: by[2] ?? 0 };
    for (const x of ["p", "a", "d"])
      at[x] = 0.94 * at[x] + delta[x];
    return { time: new Date(Date.now() - 60000 * minute).toISOString(), ...at, delta,
      cause: emotion ? "user_input" : "silence",
      ...(emotion ? { user_emotion: emotion, intensity: 0.8 } : {}) };
  });
}

// For both READMEs, in build/console/pictures; docs/pictures has a copy.
test("pictures of a soul are made, in both languages and themes", async () => {
  const proxy = await Proxy.start();
  const items = anHour();
  proxy.fault = ({ url }) => url.includes("/emotion/history")
    ? { body: { items } } : null;
  mkdirSync(PICTURES, { recursive: true });
  for (const language of ["en", "zh"]) {
    await emptied();
    await withSoul(language === "zh" ? "小元" : "Luna");
    await api("POST", "/v1/chat", { session_id: "pictures", terminal_id: "terminal-001",
      inputs: [{ type: "keyboard_text", text: "谢谢你，今天真开心" }] });
    for (const dark of [false, true]) {
      const visitor = await Visitor.open({ url: proxy.url, language, dark, at: "#/soul" });
      await visitor.page.locator(".plot .dot").first().waitFor();
      await visitor.page.evaluate(() => document.activeElement.blur());
      const png = await visitor.page.screenshot({ path:
        `${PICTURES}/soul-${language}-${dark ? "dark" : "light"}.png`,
      clip: { x: 0, y: 0, width: 1200, height: 640 } });
      assert.ok(png.length > 10000 && png.length < 150000, `${png.length} bytes`);
      await visitor.close();
    }
  }
  await proxy.stop();
});

test("files have a policy, and the page cannot make markup of text", async () => {
  await emptied();
  const visitor = await Visitor.open();
  const tried = await visitor.page.evaluate(() => {
    try {
      document.body.innerHTML = "<b>x</b>";
      return "allowed";
    } catch (error) {
      return error.name;
    }
  });
  assert.equal(tried, "TypeError");
  visitor.wrong = visitor.wrong.filter((w) => !w.includes("TrustedHTML"));
  await visitor.close();
});

test("a page that outlives an upgrade offers to reload", async () => {
  await emptied();
  const proxy = await Proxy.start();
  const visitor = await Visitor.open({ url: proxy.url, expected: ["404"] });
  proxy.fault = ({ url }) => url.includes("pages/star.js") ? { status: 404 } : null;
  await visitor.go("star");
  await visitor.page.getByRole("button", { name: "Reload" }).waitFor();
  proxy.fault = () => null;
  await visitor.page.getByRole("button", { name: "Reload" }).click();
  await visitor.page.getByRole("heading", { name: "Star" }).waitFor();
  await visitor.close();
  await proxy.stop();
});

await main(stopAll);
