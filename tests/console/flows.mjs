#!/usr/bin/env node
// flows: what people do with the console in Chromium, and what it does when
// something fails.
import assert from "node:assert/strict";
import { main, test, until } from "../web/test.mjs";
import { Proxy, Visitor, api, bodyCheck, emptied, publish, stopAll, theStack, withSoul }
  from "./drive.mjs";

const stack = await theStack();
const say = (session, text) => api("POST", "/v1/chat", { session_id: session,
  terminal_id: "terminal-001", inputs: [{ type: "keyboard_text", text }] });
const script = (faults) => fetch(`http://127.0.0.1:${stack.sim}/sim/script`, {
  method: "POST", headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ faults }) });
const live = (page) => page.getByText("● live").waitFor();

// How many ends of turns of a session the log of a body shows.
const turnsShown = (page, session) => page.locator("main tr")
  .filter({ has: page.getByText("turn_completed", { exact: true }) })
  .filter({ hasText: `"${session}"` }).count();

async function typed(page, text) {
  const box = page.getByLabel("Message");
  await box.fill(text);
  await box.press("Enter");
}

test("from nothing to the first answer by keyboard alone", async () => {
  await emptied();
  const visitor = await Visitor.open();
  const { page } = visitor;
  const { keyboard } = page;
  // Tab until the focused element has this name.
  const tabTo = (name) => until(async () => {
    await keyboard.press("Tab");
    return page.evaluate((wanted) => {
      const node = document.activeElement;
      return (node.labels?.[0] ?? node).textContent.trim() === wanted;
    }, name);
  }, `focus on ${name}`);
  await page.getByText("First steps").waitFor();
  await tabTo("Name");
  await keyboard.type("小元");
  await tabTo("Create");
  await keyboard.press("Enter");
  await page.getByText("Without hardware:").waitFor();
  await tabTo("Body's id");
  await keyboard.type("terminal-001");
  await keyboard.press("Enter");
  await page.locator("main").getByRole("link", { name: "Chat" }).waitFor();
  await page.evaluate(() => document.activeElement.blur());
  await keyboard.press("g");
  await keyboard.press("c");
  await page.getByLabel("Message").waitFor();
  await tabTo("Message");
  await keyboard.type("把灯变成绿色");
  await keyboard.press("Enter");
  await page.locator(".bubble.assistant .good").waitFor();
  assert.match(await page.locator(".bubble.assistant").innerText(),
    /control_light confirmed[^]*execute_intents/);
  // All steps are done.
  await page.goto(`${visitor.url}/#/home`);
  await page.locator(".cards .card").waitFor();
  assert.equal(await page.getByText("First steps").count(), 0);
  await visitor.close();
});

test("a browser without a body can chat, and other pages follow", async () => {
  await emptied();
  const visitor = await Visitor.open({ language: "zh" });
  const { page } = visitor;
  await page.getByLabel("名称").fill("小元");
  await page.getByRole("button", { name: "创建" }).click();
  await page.getByRole("button", { name: "用本浏览器聊天" }).click();
  await page.locator("main").getByRole("link", { name: "聊天" }).click();
  await page.getByLabel("消息").fill("讲个笑话");
  await page.getByRole("button", { name: "发送" }).click();
  await page.getByText("我听到你说：讲个笑话").first().waitFor();
  await page.getByRole("button", { name: "时间花在哪里" }).click();
  await page.getByText("completed").waitFor();
  await visitor.go("soul");
  await page.getByText("用户的话").first().waitFor();
  await visitor.close();
});

test("a reply streams, can be stopped, and a stopped turn says so", async () => {
  await emptied();
  await withSoul();
  const visitor = await Visitor.open();
  const { page } = visitor;
  await visitor.go("chat");
  await script([{ kind: "answer", text: "一二三四五六七八九十".repeat(30), piece_ms: 100 }]);
  await typed(page, "你好");
  await until(async () => /一二三/.test(await page.locator(".bubble.assistant").innerText()),
    "the first text");
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("did not complete").waitFor();
  assert.match(await page.locator(".bubble.assistant").innerText(), /CANCELED/);
  await visitor.close();
});

test("conversations of all browsers are listed, and the latest is shown", async () => {
  await emptied();
  await withSoul();
  await say("elsewhere-1", "把灯变成绿色");
  await say("elsewhere-2", "讲个笑话");
  const visitor = await Visitor.open();
  const { page } = visitor;
  await page.locator(".cards .card").waitFor();
  assert.equal(await page.getByText("First steps").count(), 0);
  await visitor.go("chat");
  await page.locator(".bubble.user", { hasText: "讲个笑话" }).waitFor();
  const list = page.locator(".columns > section").first().locator("li");
  await until(async () => await list.count() === 2, "two conversations");
  await page.getByRole("link", { name: "New conversation" }).click();
  await page.locator(".bubble").first().waitFor({ state: "detached" });
  await typed(page, "把灯变成红色");
  await until(async () => await list.count() === 3, "three conversations");
  await list.last().getByRole("link").click();
  await page.locator(".bubble.user", { hasText: "把灯变成绿色" }).waitFor();
  assert.equal(await list.last().getByRole("link").getAttribute("aria-current"), "true");
  await list.last().getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Confirm" }).click();
  await until(async () => await list.count() === 2, "one less");
  assert.deepEqual((await api("GET", "/v1/sessions")).items.map((s) => s.messages > 0), [true, true]);
  await visitor.close();
});

test("what was not accepted stays in the box, and is not sent by itself", async () => {
  await emptied();
  await withSoul();
  const proxy = await Proxy.start();
  const visitor = await Visitor.open({ url: proxy.url, expected: ["503", "ERR_"] });
  const { page } = visitor;
  await visitor.go("chat");
  for (const fault of [{ status: 503, headers: { "Retry-After": "7" } }, "cut"]) {
    proxy.fault = ({ url }) => url === "/v1/chat" ? fault : null;
    await typed(page, "你好");
    await page.locator(".error").waitFor();
    await until(async () => await page.getByLabel("Message").inputValue() === "你好",
      "the text is in the box");
    if (fault !== "cut")
      assert.match(await page.locator(".error").innerText(), /Again in 7 s/);
    assert.equal(await page.locator(".bubble").count(), 0);
    const sent = () => proxy.requests.filter(({ url }) => url === "/v1/chat").length;
    const before = sent();
    await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)));
    assert.equal(sent(), before);
  }
  proxy.fault = () => null;
  await page.getByRole("button", { name: "Send" }).click();
  await page.locator(".bubble.assistant .facts").waitFor();
  await visitor.close();
  await proxy.stop();
});

test("errors are shown where they belong, with the server's text and trace", async () => {
  await emptied();
  await withSoul();
  const proxy = await Proxy.start();
  const visitor = await Visitor.open({ url: proxy.url,
    expected: ["40", "41", "42", "503", "ERR_"] });
  const { page } = visitor;
  // At the field.
  await visitor.go("bodies");
  await page.getByLabel("Body's id").fill("a/b");
  await page.getByRole("button", { name: "Bind" }).click();
  await page.locator(".wrong", { hasText: "terminal_id" }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.name), "terminal_id");
  // In the form, where no field is named.
  await visitor.go("soul");
  await page.getByLabel("Name").fill("小元");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByText("soul name already exists").waitFor();
  // Instead of a list.
  for (const [status, text] of [[403, /role may not/], [404, /does not exist/],
    [409, /conflicts/], [413, /too large/], [422, /not valid/], [429, /Again in/],
    [503, /Again in/]]) {
    proxy.fault = ({ url }) => url.startsWith("/v1/memories") ? { status } : null;
    await visitor.go("home");
    await visitor.go("memories");
    const error = page.locator(".error").first();
    await error.waitFor();
    assert.match(await error.innerText(), text);
    assert.match(await error.innerText(), /simulated[^]*0123456789abcdef/);
  }
  // It recovers by itself.
  proxy.fault = () => null;
  await page.getByText("Nothing is remembered yet.").waitFor();
  await visitor.close();
  await proxy.stop();
});

test("without a valid token there is a login over the page, and it continues", async () => {
  await emptied();
  await withSoul();
  const proxy = await Proxy.start();
  let valid = "first-token";
  proxy.fault = ({ url, headers }) =>
    url.startsWith("/v1/") && headers.authorization !== `Bearer ${valid}`
      ? { status: 401, body: { error: "an access token is needed", code: "denied",
        trace_id: "t" } } : null;
  const visitor = await Visitor.open({ url: proxy.url, at: "#token=first-token",
    expected: ["401"] });
  const { page } = visitor;
  assert.ok(!page.url().includes("token"));
  await page.locator(".cards .card").waitFor();
  await live(page);
  await visitor.go("chat");
  await page.getByLabel("Message").fill("a draft");
  // It expires.
  valid = "second-token";
  await page.getByLabel("Message").press("Enter");
  await page.getByRole("dialog").waitFor();
  assert.deepEqual(await visitor.axe(), []);
  await page.getByLabel("Token", { exact: true }).fill("second-token");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  assert.equal(await page.getByLabel("Message").inputValue(), "a draft");
  await live(page);
  assert.equal(proxy.requests.filter(({ url }) => /token/.test(url)).length, 0);
  assert.equal(await page.evaluate(() => JSON.stringify(localStorage).includes("-token")),
    false);
  await visitor.close();
  await proxy.stop();
});

test("an operator names the user whose souls are shown", async () => {
  await api("DELETE", "/v1/users/ada/data");
  await emptied();
  await withSoul();
  const proxy = await Proxy.start();
  // As with an operator's token, which is of no user.
  const NO_USER = /^\/v1\/(live|events|identities|engines|star\/|users\/)/;
  proxy.fault = ({ url, method }) => {
    if (url === "/v1/me")
      return { body: { role: "operator", authenticated: true, version: "test" } };
    return url.startsWith("/v1/") && !NO_USER.test(url) && !/[?&]user_id=/.test(url)
      ? { status: 400, body: { error: `user_id: must be named: ${method} ${url}` } } : null;
  };
  const visitor = await Visitor.open({ url: proxy.url });
  const { page } = visitor;
  await page.getByRole("heading", { name: "Choose a user" }).waitFor();
  assert.deepEqual(await visitor.axe(), []);
  await page.getByLabel("User", { exact: true }).fill("ada");
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByText("First steps").waitFor();
  await page.getByLabel("Name").fill("Lin");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByText("Without hardware:").waitFor();
  await page.getByRole("button", { name: "Chat from this browser" }).click();
  await page.locator("main").getByRole("link", { name: "Chat" }).click();
  await typed(page, "讲个笑话");
  await page.locator(".bubble.assistant .facts").waitFor();
  for (const at of ["soul", "bodies", "memories", "runs", "tools", "settings"]) {
    await visitor.go(at);
    await until(async () => !/Loading/.test(await page.locator("main").innerText()), at);
    assert.deepEqual(await page.locator("main .error").allInnerTexts(), [], at);
  }
  const souls = async (user) =>
    (await api("GET", `/v1/souls?user_id=${user}`)).items.map((s) => s.name);
  assert.deepEqual([await souls("ada"), await souls("demo-user")], [["Lin"], ["小元"]]);
  // Another one; the first is offered again.
  await visitor.go("home");
  await page.getByRole("button", { name: "Change" }).click();
  await page.getByRole("button", { name: "ada" }).waitFor();
  await page.getByLabel("User", { exact: true }).fill("demo-user");
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByRole("link", { name: "小元" }).waitFor();
  await visitor.close();
  await proxy.stop();
  await api("DELETE", "/v1/users/ada/data");
});

test("a cut stream is resumed at its cursor: nothing is missing or doubled", async () => {
  await emptied();
  await withSoul();
  const proxy = await Proxy.start();
  const visitor = await Visitor.open({ url: proxy.url, expected: ["ERR_"] });
  const { page } = visitor;
  await visitor.go("body/terminal-001");
  await live(page);
  const turns = () => turnsShown(page, "cut-1");
  await say("cut-1", "把灯变成红色");
  await until(async () => await turns() === 1, "the first turn");
  proxy.fault = ({ url }) => url.startsWith("/v1/live") ? "cut" : null;
  proxy.cut();
  await page.getByText("reconnecting").waitFor();
  await say("cut-1", "把灯变成绿色");
  await say("cut-1", "把灯变成蓝色");
  proxy.fault = () => null;
  await live(page);
  await until(async () => await turns() >= 3, "the turns meanwhile");
  await say("cut-1", "把灯变成红色");
  await until(async () => await turns() === 4, "exactly four turns");
  const resumed = proxy.requests.filter(({ url }) => url.startsWith("/v1/live")).at(-1);
  assert.match(resumed.url, /cursor=\d+/);
  await visitor.close();
  await proxy.stop();
});

test("two tabs have one stream, and the second continues it", async () => {
  await emptied();
  await withSoul();
  const proxy = await Proxy.start();
  const visitor = await Visitor.open({ url: proxy.url });
  await live(visitor.page);
  const second = await visitor.tab("#/body/terminal-001");
  await live(second);
  const streams = () => proxy.requests.filter(({ url, socket }) =>
    url.startsWith("/v1/live") && !socket.destroyed).length;
  assert.equal(streams(), 1);
  const turns = () => turnsShown(second, "tabs");
  await say("tabs", "把灯变成红色");
  await until(async () => await turns() === 1, "the event in the second tab");
  await visitor.page.close();
  await until(async () => streams() === 1 &&
    proxy.requests.filter(({ url }) => url.startsWith("/v1/live")).length === 2,
  "the second tab has the stream");
  await say("tabs", "把灯变成绿色");
  await until(async () => await turns() === 2, "the next event");
  await visitor.close();
  await proxy.stop();
});

test("a run asks in its page, and its list and the approvals follow", async () => {
  await emptied();
  await withSoul();
  const visitor = await Visitor.open();
  const { page } = visitor;
  await visitor.go("runs");
  await page.getByLabel("Task").fill("Greet me.");
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByText("Question:").waitFor();
  const url = page.url();
  await visitor.go("tools");
  await page.getByText("Question:").waitFor();
  await page.goto(url);
  await page.getByRole("button", { name: "Ann" }).click();
  await page.getByText("succeeded").first().waitFor();
  assert.match(await page.locator(".log").innerText(), /Ann/);
  await visitor.go("runs");
  await page.locator("tbody tr", { hasText: "succeeded" }).waitFor();
  await visitor.close();
});

test("a skill is tried by hand, and its outcome is the body's", async () => {
  await emptied();
  await withSoul();
  const visitor = await Visitor.open({ expected: ["400"] });
  const { page } = visitor;
  await visitor.go("body/terminal-001");
  await page.getByLabel("Skill").selectOption("control_light");
  const fill = (text) => page.getByLabel("Arguments").fill(text);
  const run = () => page.getByRole("button", { name: "Do" }).click();
  await fill("not json");
  await run();
  await page.locator(".wrong", { hasText: "must be a JSON object" }).waitFor();
  await fill('{"mode": "explode"}');
  await run();
  await page.locator(".wrong", { hasText: "must be one of" }).waitFor();
  await fill('{"mode": "on"}');
  await run();
  await page.getByText("done, says the body").first().waitFor();
  await visitor.close();
});

test("an alarm is set in words and by time, changed, rings, and is snoozed", async () => {
  await emptied();
  await withSoul();
  const visitor = await Visitor.open({ expected: ["400"] });
  const { page } = visitor;
  await visitor.go("alarms");
  await page.getByText("Nothing will ring.").waitFor();
  const card = page.locator("section.card").last();
  const set = async (text, when) => {
    await card.getByLabel("What it reminds of").fill(text);
    await card.getByLabel("When, in words").fill(when);
    await card.getByRole("button", { name: "Create" }).click();
  };
  // What is ambiguous is an error at its field; what was typed stays.
  await set("tea", "nine o'clock or so");
  await card.locator(".wrong[data-for=when]:not(:empty)").waitFor();
  assert.equal(await card.getByLabel("What it reminds of").inputValue(), "tea");
  await set("tea", "tomorrow at 7 am");
  const row = (text) => page.locator("main tbody tr", { hasText: text });
  await row("tea").getByText("waits").waitFor();
  await card.getByLabel("What it reminds of").fill("exact");
  await card.getByLabel("or at this time").fill("2036-01-02T03:04");
  await card.getByRole("button", { name: "Create" }).click();
  await row("exact").getByText("once").waitFor();
  const [first] = (await api("GET", "/v1/alarms")).alarms.filter((a) => a.text === "exact");
  assert.equal(Date.parse(first.next_at), await page.evaluate(() =>
    Date.parse("2036-01-02T03:04")));
  await row("exact").getByText("Change", { exact: true }).click();
  await row("exact").getByLabel("What it reminds of").fill("changed");
  await row("exact").getByRole("button", { name: "Save" }).click();
  await row("changed").waitFor();
  assert.deepEqual(await visitor.axe(), []);
  // One rings; the page follows by itself.
  await set("soon", "in 2 seconds");
  await row("soon").getByText("waits").waitFor();
  await page.getByLabel(/that have ended/).check();
  await row("soon").getByRole("button", { name: "In 10 minutes again" }).click();
  await row("soon").getByText("rings again later").waitFor();
  await row("soon").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Confirm" }).click();
  await row("soon").getByText("canceled").first().waitFor();
  await visitor.close();
});

test("a sentence is tried without being carried out", async () => {
  await emptied();
  await withSoul();
  const visitor = await Visitor.open({ expected: ["400"] });
  const { page } = visitor;
  await visitor.go("try");
  await page.getByLabel("Sentence").fill("讲个笑话，把灯变成绿色，气死我了");
  await page.getByRole("button", { name: "Try" }).click();
  await page.getByRole("heading", { name: "Emotion" }).waitFor();
  assert.match(await page.locator(".sentence mark").innerText(), /灯变成绿色/);
  assert.match(await page.locator("main").innerText(),
    /control_light[^]*green[^]*Emotion[^]*anger/);
  assert.deepEqual(await visitor.axe(), []);
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as a test case" }).click();
  assert.equal((await saved).suggestedFilename(), "case.json");
  await page.getByText("More:").click();
  await page.getByLabel("Intent catalog instead").fill("nonsense");
  await page.getByRole("button", { name: "Try" }).click();
  await page.locator(".wrong", { hasText: "must be a JSON array" }).waitFor();
  await page.getByLabel("Intent catalog instead")
    .fill('[{"id": "tea", "match": {"keywords_any": ["笑话"]}}]');
  await page.getByRole("button", { name: "Try" }).click();
  await page.getByRole("heading", { name: "tea" }).waitFor();
  assert.equal((await api("GET", "/v1/events?types=intent_action,invoke,turn_completed"))
    .items.filter(({ event }) => event.payload.user_id === "demo-user" &&
      Date.now() - 1000 * event.meta.timestamp < 5000 &&
      JSON.stringify(event).includes("笑话")).length, 0);
  await visitor.close();
});

test("the services that run are listed, and one that cannot work says why", async () => {
  const proxy = await Proxy.start();
  const visitor = await Visitor.open({ url: proxy.url });
  const { page } = visitor;
  await visitor.go("system");
  await page.getByText("All can do their work").waitFor();
  const rows = await page.locator("main tbody tr").allInnerTexts();
  for (const service of ["chat-gateway", "emotion-engine", "intent-filter", "llm-orchestrator",
    "memory-worker", "mqtt-bridge", "navigator"])
    assert.ok(rows.some((row) => row.includes(service)), service);
  assert.match(rows.find((row) => row.includes("llm-orchestrator")), /language model/);
  proxy.fault = ({ url }) => url === "/v1/status" ? { body: { version: "1", ok: false,
    at: new Date().toISOString(), services: [{ name: "mqtt-bridge", version: "2", ready: false,
      status: "redis is not reachable\n" }] } } : null;
  await page.getByRole("button", { name: "Reload" }).click();
  await page.getByText("redis is not reachable").waitFor();
  await page.getByText("○ not ready").waitFor();
  await visitor.close();
  await proxy.stop();
});

test("a turn opens to what went into its stages and came out", async () => {
  await emptied();
  await withSoul();
  const visitor = await Visitor.open();
  const { page } = visitor;
  await visitor.go("turns");
  await live(page);
  await page.getByText("No turns in the last day.").waitFor();
  await say("turns", "讲个笑话");
  await say("turns", "把灯变成绿色");
  const row = (text) => page.locator("main tbody tr", { hasText: text });
  await row("把灯变成绿色").getByRole("link").waitFor();
  await row("讲个笑话").getByRole("link").click();
  const think = page.locator("details", { hasText: "think" });
  await think.locator("summary").click();
  assert.match(await think.innerText(), /openai[^]*tokens in[^]*\[user\][^]*我听到你说/);
  assert.match(await page.locator("section.card").innerText(), /completed[^]*我听到你说：讲个笑话/);
  assert.deepEqual(await visitor.axe(), []);
  await visitor.go("turns");
  await page.getByText("Filter", { exact: true }).first().click();
  await page.getByLabel("State").selectOption("failed");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByText("No turns in the last day.").waitFor();
  // All of it goes with the user's data.
  await emptied();
  assert.equal((await api("GET", "/v1/turns")).items.length, 0);
  await visitor.close();
});

test("a soul asks for a capability, and its owner decides", async () => {
  await emptied();
  const soul = await withSoul();
  const visitor = await Visitor.open();
  const { page } = visitor;
  await visitor.go("evolutions");
  await live(page);
  await page.getByText("No soul has asked").waitFor();
  const ask = (cycle, need) => publish("soul.rpc.evolution.request", {
    user_id: "demo-user", soul_id: soul.soul_id, cycle_id: cycle, need,
    why: "<img src=x>" });
  // The page follows by itself.
  await ask("cycle-1", "weather forecast");
  await page.getByText("waits for you").first().waitFor();
  assert.match(await page.locator("section.card").innerText(),
    /小元 asked[^]*<img src=x>[^]*Weather/);
  assert.deepEqual(await visitor.axe(), []);
  const press = (name) => page.getByRole("button", { name, exact: true }).click();
  const states = async (wanted) => {
    await page.locator("section.card p .good, section.card p .bad")
      .filter({ hasText: wanted }).waitFor();
    return (await api("GET", "/v1/evolutions")).evolutions.map((e) => e.state).join();
  };
  await press("Refuse");
  assert.equal(await states("refused"), "refused");
  await press("Allow");
  await press("Confirm");
  assert.equal(await states("enabled"), "enabled");
  // The same is decided elsewhere meanwhile.
  const [{ evolution_id: id }] = (await api("GET", "/v1/evolutions")).evolutions;
  await press("Disable");
  await api("POST", `/v1/evolutions/${id}/disable`);
  await page.getByRole("button", { name: "Confirm" }).click();
  assert.equal(await states("disabled"), "disabled");
  await press("Enable again");
  await press("Confirm");
  assert.equal(await states("enabled"), "enabled");
  await page.getByText(/^\d+ steps$/).click();
  assert.match(await page.locator("section.card ol").innerText(),
    /asked for[^]*waits for you[^]*refused[^]*allowed[^]*enabled[^]*disabled[^]*enabled/);
  await visitor.close();
});

test("a browser becomes a body: a lamp, a face, an alarm, and an end", async () => {
  await emptied();
  await withSoul();
  const visitor = await Visitor.open();
  const { page } = visitor;
  await visitor.go("browser");
  const id = await page.getByLabel("Body's id").inputValue();
  await page.getByRole("button", { name: "Be a body" }).click();
  await page.getByText("● is a body").waitFor();
  const bodies = async () => (await api("GET", "/v1/terminals")).items
    .find((b) => b.terminal_id === id) ?? {};
  await until(async () => (await bodies()).online === true, "it is online");
  assert.deepEqual((await bodies()).skills.toSorted(),
    ["control_light", "create_alarm", "set_head_motion", "speak"]);
  assert.deepEqual(await visitor.axe(), []);
  const say = async (text) => {
    await page.getByLabel("Message").fill(text);
    await page.getByLabel("Message").press("Enter");
  };
  // A command in words, and one of the API, which its result confirms.
  await say("把灯变成绿色");
  await page.locator(".lamp.green").waitFor();
  const invoke = (skill, args) => api("POST",
    `/v1/terminals/${encodeURIComponent(id)}/invoke`, { skill, arguments: args });
  assert.equal((await invoke("control_light", { mode: "set_color", color: "blue" })).outcome, "ok");
  await page.locator(".lamp.blue").waitFor();
  assert.match((await invoke("speak", { text: "<b>你好" })).output, /shown as text|has begun/);
  await page.getByText("<b>你好").waitFor();
  assert.match((await invoke("set_head_motion", { action: "点头", duration_seconds: 5 })).output,
    /head moves/);
  await page.getByText("nods").waitFor();
  assert.equal((await invoke("create_alarm", { trigger_in_seconds: 2, label: "tea" })).outcome, "ok");
  await page.locator("[role=alert]", { hasText: "tea" }).waitFor();
  await page.locator("[role=alert]").getByRole("button", { name: "Stop" }).click();
  await page.locator("[role=alert]", { hasText: "tea" }).waitFor({ state: "detached" });
  // The face follows the soul.
  const before = await page.locator("svg.face").getAttribute("aria-label");
  await say("谢谢你，今天真开心");
  await until(async () => await page.locator("svg.face").getAttribute("aria-label") !== before,
    "another face");
  // It stays one on other pages, until it leaves.
  await visitor.go("soul");
  assert.equal((await invoke("control_light", { mode: "off" })).outcome, "ok");
  await visitor.go("browser");
  await page.locator(".lamp.off").waitFor();
  await page.getByRole("button", { name: "Disconnect" }).click();
  await until(async () => (await bodies()).online === false, "it is offline");
  await visitor.close();
});

test("a browser's body comes back after a broken connection", async () => {
  await emptied();
  await withSoul();
  const proxy = await Proxy.start();
  const visitor = await Visitor.open({ url: proxy.url, expected: ["ERR_", "WebSocket", "502"] });
  const { page } = visitor;
  await visitor.go("browser");
  const id = await page.getByLabel("Body's id").inputValue();
  const check = bodyCheck(id);
  await check.connected;
  await page.getByRole("button", { name: "Be a body" }).click();
  await page.getByText("● is a body").waitFor();
  proxy.fault = ({ url }) => url === "/mqtt" ? "cut" : null;
  proxy.cut();
  await page.getByText("○ reconnecting").nth(1).waitFor();
  const online = async () => (await api("GET", "/v1/terminals")).items
    .find((b) => b.terminal_id === id)?.online;
  await until(async () => await online() === false, "its will says that it is gone");
  proxy.fault = () => null;
  await page.getByText("● is a body").waitFor();
  await until(async () => await online() === true, "it is online again");
  // The check of any body finds nothing.
  const { status, text } = await check.ended;
  assert.ok(status === 0 && /pass/.test(text) && !/FAIL/.test(text), text);
  await visitor.close();
  await proxy.stop();
});

test("identities are created, shown a single time, and revoked", async () => {
  await emptied();
  const visitor = await Visitor.open();
  const { page } = visitor;
  const id = `device-${Date.now()}`;
  await visitor.go("identities");
  await page.getByLabel("Body's id").fill(id);
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByText(`Secrets of ${id}`).waitFor();
  assert.ok((await page.locator("main td code").nth(1).innerText()).length > 16);
  await page.getByRole("button", { name: "Close" }).click();
  const row = page.locator("main tbody tr", { hasText: id });
  await row.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("button", { name: "Confirm" }).click();
  await row.getByText("revoked").waitFor();
  await visitor.go("audit");
  await page.getByText("terminal_revoked").first().waitFor();
  await visitor.close();
});

test("language and theme change in place, and stay", async () => {
  await emptied();
  await withSoul();
  const visitor = await Visitor.open();
  const { page } = visitor;
  await visitor.go("settings");
  await page.getByLabel("Theme").selectOption("dark");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await page.locator("#language").selectOption("zh");
  await page.getByRole("heading", { name: "设置" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "设置" }).waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await visitor.close();
});

test("what deletes everything must be named", async () => {
  await emptied();
  await withSoul();
  const visitor = await Visitor.open();
  const { page } = visitor;
  await visitor.go("soul");
  await page.getByRole("button", { name: "Delete this soul" }).click();
  const confirm = page.getByRole("button", { name: "Confirm" });
  assert.ok(await confirm.isDisabled());
  await page.getByLabel(/to confirm/).fill("小元");
  await confirm.click();
  await page.getByText("There is no soul yet.").waitFor();
  assert.equal((await api("GET", "/v1/souls")).items.length, 0);
  await visitor.close();
});

await main(stopAll);
