#!/usr/bin/env node
// cases: what the official clients of OpenAI's API, AG-UI, MCP and Standard Webhooks
// do with a running stack.
//
// usage: cases.mjs [part of a name]
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { startStack, stopStack } from "../testkit/stack.mjs";
import { freePort, until } from "../testkit/wait.mjs";

const require = createRequire(resolve("build/doors") + "/");
const OpenAI = require("openai");
const { HttpAgent } = require("@ag-ui/client");
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } =
  require("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { Webhook } = require("standardwebhooks");
const BIN = resolve(process.env.DOORS_BIN ?? "build/release/bin");
const FILTER = process.argv[2] ?? process.env.TEST_FILTER ?? "";
const dir = mkdtempSync(join(tmpdir(), "soul-doors-"));
const TOKEN = "a-token-of-ann";

// ---- the stack ----

let at = {};
const env = {
  ...process.env, STACK_DIR: dir, STACK_BIN: BIN, WEBHOOK_ALLOW_PRIVATE: "on",
  WEBHOOK_RETRY_MS: "100", SECRETS_KEY: `k:${"0".repeat(64)}`,
};

const url = (name, path) => at[`${name}_URL`] + path;

async function call(name, path, body) {
  const r = await fetch(url(name, path), body === undefined ? {} : {
    method: "POST", body: JSON.stringify(body),
    headers: { "Content-Type": "application/json" },
  });
  assert.equal(r.status, 200, `${path}: ${await r.clone().text()}`);
  return r.json();
}

// A second gateway, which knows one token.
let closed;

async function startClosed() {
  const sha256 = createHash("sha256").update(TOKEN).digest("hex");
  writeFileSync(join(dir, "tokens.json"), JSON.stringify({
    tokens: [{ sha256, role: "owner", user: "demo-user" }],
  }));
  const [http, admin] = [await freePort(), await freePort()];
  closed = spawn(join(BIN, "chat-gateway"), {
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      PATH: process.env.PATH, HTTP_ADDR: `127.0.0.1:${http}`,
      ADMIN_ADDR: `127.0.0.1:${admin}`, AUTH_TOKENS: join(dir, "tokens.json"),
      NATS_URL: at.NATS_URL,
      REDIS_URL: at.REDIS_URL, LOG_LEVEL: "warn",
    },
  });
  at.CLOSED_URL = `http://127.0.0.1:${http}`;
  await until("the gateway with tokens", () =>
    fetch(`http://127.0.0.1:${admin}/readyz`).then((r) => r.ok, () => false));
}

const client = (name = "CHAT_GATEWAY", apiKey = "none") => new OpenAI({
  baseURL: url(name, "/v1"), apiKey, maxRetries: 0,
});

const ask = (text, more = {}) => ({
  model: "soul/Nova", messages: [{ role: "user", content: text }], ...more,
});

// Souls think by themselves, too: one slow reply may be taken by that.
const slowModel = (delay_ms) => call("LLM_SIM", "/sim/script",
  { faults: Array(8).fill({ kind: "slow", delay_ms }) });

// ---- cases ----

const cases = [];
const test = (name, run) => cases.push({ name, run });

test("the models are the user's souls", async () => {
  const names = [];
  for await (const m of client().models.list())
    names.push([m.id, m.name]);
  assert.equal(names.length, 1);
  assert.match(names[0][0], /^soul\/soul_/);
  assert.equal(names[0][1], "Nova");
});

test("a command is carried out by the body", async () => {
  const r = await client().chat.completions.create(ask("把灯变成绿色"));
  assert.deepEqual(r.soul.executed_skills, ["control_light"]);
  assert.equal(r.choices[0].finish_reason, "stop");
  assert.ok(r.choices[0].message.content.length > 0);
  assert.equal((await call("BODY_SIM", "/state")).color, "green");
});

test("a conversation continues, whatever history the client sends", async () => {
  const c = client();
  const first = await c.chat.completions.create(ask("今天过得怎么样"));
  const second = await c.chat.completions.create({
    model: "soul/Nova",
    messages: [
      { role: "system", content: "You are a helpful assistant." },
      { role: "user", content: "今天过得怎么样" },
      first.choices[0].message,
      { role: "user", content: [{ type: "text", text: "讲讲别的" }] },
    ],
    tools: [{ type: "function", function: { name: "f", parameters: {} } }],
    user: "bob",
  });
  assert.equal(second.soul.session_id, first.soul.session_id);
  assert.match(second.choices[0].message.content, /讲讲别的/);
});

test("a streamed reply is the reply", async () => {
  const stream = await client().chat.completions.create(
    ask("你好，请说点什么", { stream: true }));
  let text = "", last;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta?.content ?? "";
    last = chunk;
  }
  assert.equal(last.choices[0].finish_reason, "stop");
  assert.equal(text, last.soul.reply);
  assert.ok(text.length > 0);
});

test("the client's own helper for streams works", async () => {
  const r = await client().chat.completions.stream(ask("再说一点"))
    .finalChatCompletion();
  assert.match(r.choices[0].message.content, /再说一点/);
});

test("an aborted stream cancels its turn", async () => {
  await slowModel(10000);
  const stream = await client().chat.completions.create(
    ask("慢慢说", { stream: true }));
  const { value } = await stream[Symbol.asyncIterator]().next();
  stream.controller.abort();
  await until("the turn is canceled", async () =>
    (await call("CHAT_GATEWAY", `/v1/turns/${value.id}`)).state ===
      "canceled");
  await call("LLM_SIM", "/sim/script", { faults: [] });
});

test("a repeated request with its key runs once", async () => {
  const options = { headers: { "Idempotency-Key": "key-1" } };
  const c = client();
  const first = await c.chat.completions.create(ask("只说一次"), options);
  const second = await c.chat.completions.create(ask("只说一次"), options);
  assert.equal(second.soul.turn_id, first.soul.turn_id);
});

async function fails(promise, type, status, text) {
  const error = await promise.then(
    () => assert.fail("it has not failed"), (e) => e);
  assert.ok(error instanceof type, `${error.constructor.name}: ${error}`);
  assert.equal(error.status, status);
  assert.match(error.message, text);
  return error;
}

test("errors are those that the client expects", async () => {
  const c = client();
  await fails(c.chat.completions.create(ask("x", { model: "gpt-5" })),
    OpenAI.NotFoundError, 404, /no soul is named gpt-5/);
  await fails(c.chat.completions.create({ model: "soul/Nova", messages: [] }),
    OpenAI.BadRequestError, 400, /\/messages: /);
  await fails(client("CLOSED", "wrong").chat.completions.create(ask("x")),
    OpenAI.AuthenticationError, 401, /token is not known/);
  await call("LLM_SIM", "/sim/script",
    { faults: Array(8).fill({ kind: "error" }) });
  await fails(c.chat.completions.create(ask("聊聊天气以外的事")),
    OpenAI.InternalServerError, 502, /language model/);
  await call("LLM_SIM", "/sim/script", { faults: [] });
});

test("a token's user is asked for, not the request's", async () => {
  const r = await client("CLOSED", TOKEN).chat.completions.create(
    ask("你好", { user: "bob" }));
  assert.ok(r.choices[0].message.content.length > 0);
});

test("too many turns at once say when to try again", async () => {
  const c = client();
  await slowModel(3000);
  const all = await Promise.allSettled(Array.from({ length: 40 }, (_, i) =>
    c.chat.completions.create(ask(`第${i}个问题`))));
  await call("LLM_SIM", "/sim/script", { faults: [] });
  const refused = all.filter((r) => r.status === "rejected")
    .map((r) => r.reason);
  assert.ok(refused.length > 0);
  for (const e of refused) {
    assert.ok(e instanceof OpenAI.RateLimitError, String(e));
    assert.match(e.headers.get("retry-after"), /^[1-9]/);
  }
});

// ---- responses ----

const respond = (input, more = {}) => ({ model: "soul/Nova", input, ...more });

test("a response is the soul's reply, and can be read again", async () => {
  const c = client();
  const r = await c.responses.create(respond("把灯变成红色"));
  assert.equal(r.status, "completed");
  assert.equal(r.output_text, r.soul.reply);
  assert.deepEqual(r.soul.executed_skills, ["control_light"]);
  assert.equal((await call("BODY_SIM", "/state")).color, "red");
  const again = await c.responses.retrieve(r.id);
  assert.equal(again.output_text, r.output_text);
  assert.equal(again.model, `soul/${r.soul.soul_id}`);
  const next = await c.responses.create(respond(
    [{ role: "user", content: [{ type: "input_text", text: "讲讲别的" }] }],
    { previous_response_id: r.id, metadata: { terminal_id: "terminal-001" } }));
  assert.equal(next.metadata.session_id, r.metadata.session_id);
});

test("the client's own helper for streamed responses works", async () => {
  const r = await client().responses.stream(respond("再说一点"))
    .finalResponse();
  assert.match(r.output_text, /再说一点/);
  assert.equal(r.output_text, r.soul.reply);
});

const EVENTS = ["response.created", "response.in_progress",
  "response.output_item.added", "response.content_part.added",
  "response.output_text.delta", "response.output_text.done",
  "response.content_part.done", "response.output_item.done",
  "response.completed"];

test("a response that is cut is resumed, without a gap", async () => {
  const c = client();
  const stream = await c.responses.create(
    respond("说说今天的天气", { stream: true, background: true }));
  const events = [];
  for await (const e of stream) {
    events.push(e);
    if (e.type === "response.output_text.delta")
      break;
  }
  const { id } = events[0].response;
  const rest = await c.responses.retrieve(id,
    { stream: true, starting_after: events.at(-1).sequence_number });
  for await (const e of rest)
    events.push(e);
  assert.deepEqual([...new Set(events.map((e) => e.type))], EVENTS);
  const numbers = events.map((e) => e.sequence_number);
  assert.deepEqual(numbers, [...new Set(numbers)].sort((a, b) => a - b));
  const text = events.map((e) => e.delta ?? "").join("");
  assert.equal(text, events.at(-1).response.output[0].content[0].text);
  assert.equal(text, (await c.responses.retrieve(id)).output_text);
  const whole = await c.responses.stream(
    { response_id: id, starting_after: numbers[3] }).finalResponse();
  assert.equal(whole.output_text, text);
});

test("a background response goes on alone", async () => {
  await slowModel(4000);
  const c = client();
  const r = await c.responses.create(
    respond("慢慢来", { background: true }));
  assert.equal(r.status, "in_progress");
  assert.equal(r.output_text, "");
  await until("it is completed", async () =>
    (await c.responses.retrieve(r.id)).status === "completed");
  assert.match((await c.responses.retrieve(r.id)).output_text, /慢慢来/);
  await call("LLM_SIM", "/sim/script", { faults: [] });
});

test("a background response is canceled, and its stream says so", async () => {
  await slowModel(30000);
  const c = client();
  const r = await c.responses.create(
    respond("想很久", { background: true }));
  const stream = await c.responses.retrieve(r.id, { stream: true });
  assert.equal((await c.responses.cancel(r.id)).status, "cancelled");
  await call("LLM_SIM", "/sim/script", { faults: [] });
  let last;
  for await (const e of stream)
    last = e;
  assert.equal(last.type, "response.failed");
  assert.equal(last.response.status, "cancelled");
  assert.equal((await c.responses.retrieve(r.id)).status, "cancelled");
  assert.equal((await c.responses.cancel(r.id)).status, "cancelled");
});

test("errors of responses are those that the client expects", async () => {
  const c = client();
  await fails(c.responses.create(respond("x", { model: "gpt-5" })),
    OpenAI.NotFoundError, 404, /no soul is named gpt-5/);
  await fails(c.responses.create(respond([])),
    OpenAI.BadRequestError, 400, /\/input: /);
  await fails(c.responses.create(respond("x", { previous_response_id: "r" })),
    OpenAI.NotFoundError, 404, /previous_response_id: no response/);
  await fails(c.responses.retrieve("turn_none"),
    OpenAI.NotFoundError, 404, /no response of the last hour/);
  await fails(c.responses.cancel("turn_none"),
    OpenAI.NotFoundError, 404, /no response of the last hour/);
  await fails(client("CLOSED", "wrong").responses.create(respond("x")),
    OpenAI.AuthenticationError, 401, /token is not known/);
  await call("LLM_SIM", "/sim/script",
    { faults: Array(8).fill({ kind: "error" }) });
  await fails(c.responses.create(respond("聊聊海里的鱼")),
    OpenAI.InternalServerError, 502, /language model/);
  await call("LLM_SIM", "/sim/script", { faults: [] });
});

// ---- AG-UI ----

// Its client verifies the order of the events by itself.
function agent(threadId, events) {
  const a = new HttpAgent({
    url: url("CHAT_GATEWAY", "/v1/agui?soul=Nova"), threadId,
  });
  a.subscribe({ onEvent: ({ event }) => { events.push(event); } });
  return a;
}

test("an AG-UI agent talks, and its body acts", async () => {
  const events = [];
  const a = agent("agui-1", events);
  a.addMessage({ id: "1", role: "user", content: "把灯变成红色" });
  const { newMessages } = await a.runAgent();
  assert.equal(newMessages.length, 1);
  assert.equal(newMessages[0].role, "assistant");
  const reply = events.find((e) => e.name === "soul.reply").value;
  assert.deepEqual(reply.executed_skills, ["control_light"]);
  assert.equal(newMessages[0].content, reply.reply);
  a.addMessage({ id: "3", role: "user", content: "说点别的" });
  const second = await a.runAgent();
  assert.match(second.newMessages[0].content, /说点别的/);
});

test("a run of AG-UI that is aborted is canceled", async () => {
  await slowModel(30000);
  const events = [];
  const a = agent("agui-2", events);
  a.addMessage({ id: "1", role: "user", content: "慢慢想" });
  const run = a.runAgent().catch(() => {});
  await until("the run has started", () => events.length > 0);
  a.abortRun();
  await run;
  await call("LLM_SIM", "/sim/script", { faults: [] });
  await until("the next run", async () => {
    const next = agent("agui-2", []);
    next.addMessage({ id: "2", role: "user", content: "你好呀" });
    return (await next.runAgent()).newMessages.length === 1;
  });
});

test("AG-UI's client rejects what is refused", async () => {
  const a = new HttpAgent({ url: url("CHAT_GATEWAY", "/v1/agui?soul=x") });
  a.addMessage({ id: "1", role: "user", content: "hi" });
  await assert.rejects(a.runAgent(), /404.*no soul is named x/s);
});

// What a client does not show: the headers of a refusal.
function noting(refused) {
  return async (...args) => {
    const r = await fetch(...args);
    if (r.status === 429)
      refused.push(r.headers.get("retry-after"));
    return r;
  };
}

test("AG-UI's client gets errors as it expects them", async () => {
  const run = (a, text) => {
    a.addMessage({ id: "1", role: "user", content: text });
    return a.runAgent();
  };
  await assert.rejects(run(new HttpAgent(
    { url: url("CLOSED", "/v1/agui?soul=Nova") }), "hi"), /401/);
  await run(new HttpAgent({ url: url("CLOSED", "/v1/agui?soul=Nova"),
    headers: { Authorization: `Bearer ${TOKEN}` } }), "你好");
  await call("LLM_SIM", "/sim/script",
    { faults: Array(8).fill({ kind: "error" }) });
  const events = [];
  await run(agent("agui-502", events), "聊聊山里的树").catch((e) => {
    assert.match(String(e), /language model/);
  });
  assert.equal(events.at(-1).type, "RUN_ERROR");
  assert.equal(events.at(-1).code, "LLM_UNAVAILABLE");
  await slowModel(800);
  const headers = [];
  const all = await Promise.allSettled(Array.from({ length: 20 }, (_, i) =>
    run(new HttpAgent({ url: url("CHAT_GATEWAY", "/v1/agui?soul=Nova"),
      threadId: "agui-429", fetch: noting(headers) }), `第${i}个问题`)));
  await call("LLM_SIM", "/sim/script", { faults: [] });
  const refused = all.filter((r) => r.status === "rejected");
  assert.ok(refused.length > 0);
  for (const r of refused)
    assert.match(String(r.reason), /429/);
  assert.equal(headers.length, refused.length);
  for (const h of headers)
    assert.match(h, /^[1-9]/);
});

// ---- MCP ----

let soulPath;

async function mcp(name = "CHAT_GATEWAY", token) {
  const c = new Client({ name: "doors", version: "1" });
  await c.connect(new StreamableHTTPClientTransport(
    new URL(url(name, soulPath)), token === undefined ? {} :
      { requestInit: { headers: { Authorization: `Bearer ${token}` } } }));
  return c;
}

test("a soul is a server for MCP's client", async () => {
  const c = await mcp();
  assert.equal(c.getServerVersion().title, "Nova");
  const { tools } = await c.listTools();
  assert.deepEqual(tools.map((t) => t.name),
    ["chat", "say", "invoke_skill", "recall", "alarms"]);
  await c.ping();
  const r = await c.callTool(
    { name: "chat", arguments: { text: "把灯变成红色" } });
  assert.equal(r.isError, false);
  assert.deepEqual(r.structuredContent.executed_skills, ["control_light"]);
  assert.equal(r.content[0].text, r.structuredContent.reply);
  assert.equal((await call("BODY_SIM", "/state")).color, "red");
  await c.close();
});

test("MCP's client uses the other tools of a soul", async () => {
  const c = await mcp();
  const tool = async (name, args) => {
    const r = await c.callTool({ name, arguments: args });
    assert.equal(r.isError, false, JSON.stringify(r));
    return r.structuredContent;
  };
  const done = await tool("invoke_skill",
    { skill: "control_light", arguments: { mode: "set_color", color: "white" } });
  assert.equal(done.outcome, "ok");
  assert.equal((await call("BODY_SIM", "/state")).color, "white");
  assert.match((await tool("say", { text: "茶好了" })).push_id, /./);
  await tool("recall", { query: "茶" });
  const { alarm } = await tool("alarms",
    { action: "set", when: "明天早上八点", text: "喝水" });
  assert.equal((await tool("alarms", {})).alarms.length, 1);
  await tool("alarms", { action: "cancel", alarm_id: alarm.alarm_id });
  assert.equal((await tool("alarms", {})).alarms.length, 0);
  await c.close();
});

test("MCP's client gets errors as it expects them", async () => {
  const c = await mcp();
  const r = await c.callTool(
    { name: "invoke_skill", arguments: { skill: "fly" } });
  assert.equal(r.isError, true);
  assert.match(r.content[0].text, /the device has not reported it/);
  await assert.rejects(c.callTool({ name: "none", arguments: {} }),
    (e) => e.code === -32602);
  await c.close();
  await assert.rejects(mcp("CLOSED"), /401|Unauthorized|access token/);
  await (await mcp("CLOSED", TOKEN)).close();
});

// What a tool reports is its result, for the model that has called it.
test("MCP's client gets what a soul cannot do as results", async () => {
  const c = await mcp();
  const chat = (text, session_id) => c.callTool(
    { name: "chat", arguments: { text, session_id } });
  await call("LLM_SIM", "/sim/script",
    { faults: Array(8).fill({ kind: "error" }) });
  const failed = await chat("聊聊河边的石头", "mcp-502");
  assert.equal(failed.isError, true);
  assert.equal(failed.structuredContent.code, "llm_unavailable");
  await slowModel(800);
  const all = await Promise.all(Array.from({ length: 20 }, (_, i) =>
    chat(`第${i}个问题`, "mcp-429")));
  await call("LLM_SIM", "/sim/script", { faults: [] });
  const refused = all.filter((r) => r.isError);
  assert.ok(refused.length > 0);
  for (const r of refused) {
    assert.equal(r.structuredContent.code, "overloaded");
    assert.match(r.content[0].text, /too many turns/);
  }
  await c.close();
});

test("an MCP client that disconnects cancels its call", async () => {
  await slowModel(30000);
  const chat = (c, text) => c.callTool(
    { name: "chat", arguments: { text, session_id: "mcp-slow" } },
    undefined, { timeout: 20000 });
  const c = await mcp(), next = await mcp();
  const slow = chat(c, "慢慢想");
  setTimeout(() => c.close(), 500);
  await assert.rejects(slow);
  await call("LLM_SIM", "/sim/script", { faults: [] });
  assert.equal((await chat(next, "你好呀")).isError, false);
  await next.close();
});

test("MCP's inspector lists and calls tools", async () => {
  const cli = resolve("build/doors/node_modules/.bin/mcp-inspector");
  const run = async (...args) => JSON.parse((await promisify(execFile)(cli,
    ["--cli", url("CHAT_GATEWAY", soulPath), "--transport", "http", ...args],
    { timeout: 60000 })).stdout);
  assert.equal((await run("--method", "tools/list")).tools.length, 5);
  const r = await run("--method", "tools/call", "--tool-name", "chat",
    "--tool-arg", "text=你好");
  assert.equal(r.isError, false);
});

// ---- webhooks ----

test("a receiver that was down gets signed events in order", async () => {
  const port = await freePort();
  const hook = await call("CHAT_GATEWAY", "/v1/webhooks", {
    url: `http://127.0.0.1:${port}/hook`, types: ["turn_completed"],
  });
  const said = [];
  for (let i = 0; i < 3; i++)
    said.push((await client().chat.completions.create(ask(`第${i}句`)))
      .soul.turn_id);
  const got = [];
  const receiver = createServer((q, r) => {
    let body = "";
    q.on("data", (chunk) => { body += chunk; });
    q.on("end", () => {
      got.push(new Webhook(hook.secret).verify(body, q.headers));
      r.writeHead(204).end();
    });
  }).listen(port, "127.0.0.1");
  await until("all events", () => got.length >= 3);
  receiver.close();
  receiver.closeAllConnections();
  assert.deepEqual(got.map((e) => e.payload.turn_id), said);
});

// ---- the clients in docs/clients ----

const PATHS = readFileSync("proto-schemas/openapi.yaml", "utf8")
  .match(/^ {2}"?\/v1\/[^:"]*/gm)
  .map((p) => new RegExp(`^${p.trim().replace(/^"/, "")
    .replace(/\{[^}]*\}/g, "[^/]+")}$`));

// A way to the gateway that cuts each of the first n streams after an event, and
// fails for a request that openapi.yaml does not have.
async function cutting(n, use) {
  const unknown = [];
  const s = createServer(async (q, r) => {
    const path = new URL(q.url, "http://x").pathname;
    if (!PATHS.some((p) => p.test(path)))
      unknown.push(path);
    const to = request(url("CHAT_GATEWAY", q.url),
      { method: q.method, headers: q.headers }, (from) => {
        r.writeHead(from.statusCode, from.headers);
        from.on("data", (chunk) => {
          r.write(chunk);
          if (/event-stream/.test(from.headers["content-type"]) && n-- > 0)
            setTimeout(() => r.destroy(), 20);
        });
        from.on("end", () => r.end());
        r.on("close", () => to.destroy());
      });
    to.on("error", () => r.destroy());
    q.pipe(to);
  });
  const port = await freePort();
  s.listen(port, "127.0.0.1");
  try {
    await use(`http://127.0.0.1:${port}`);
  } finally {
    s.close();
    s.closeAllConnections();
  }
  assert.deepEqual(unknown, []);
}

for (const [name, command] of [["Python", ["python3", "docs/clients/soul.py"]],
  ["JavaScript", ["node", "docs/clients/soul.mjs"]]]) {
  const run = async (to, ...args) => (await promisify(execFile)(command[0],
    [command[1], ...args], { env: { ...process.env, SOUL_URL: to },
      timeout: 60000 })).stdout.trim();
  test(`the ${name} client resumes a reply that is cut`, async () => {
    await cutting(2, async (to) => {
      assert.match(await run(to, "chat", "说说今天的天气"), /说说今天的天气/);
    });
  });
  test(`the ${name} client gets events, speaks, and sets alarms`, async () => {
    await cutting(1, async (to) => {
      const live = spawn(command[0], [command[1], "live", "turn_completed"],
        { env: { ...process.env, SOUL_URL: to } });
      let out = "";
      live.stdout.on("data", (chunk) => { out += chunk; });
      await until("two events, of two streams", async () => {
        await run(to, "chat", "你好");
        return out.split("\n").length > 2;
      });
      live.kill();
      assert.match(out, /^\d+ \{.*"turn_completed"/);
      assert.match(await run(to, "say", "茶好了"), /./);
      const id = await run(to, "alarms", "明天早上九点", "开会");
      assert.match(await run(to, "alarms"), new RegExp(`${id}.*开会`));
    });
  });
}

// ---- the run ----

let passed = 0, failed = 0;
try {
  at = startStack(env);
  const soul = await call("CHAT_GATEWAY", "/v1/souls",
    { name: "Nova", mbti_type: "ENFP" });
  await call("CHAT_GATEWAY", "/v1/souls/select",
    { terminal_id: "terminal-001", soul_id: soul.soul_id });
  soulPath = `/v1/souls/${soul.soul_id}/mcp`;
  await startClosed();
  for (const { name, run } of cases.filter((c) => c.name.includes(FILTER))) {
    const from = Date.now();
    try {
      await run();
      passed++;
      console.log(`ok    ${Date.now() - from} ms  ${name}`);
    } catch (error) {
      failed++;
      console.log(`FAIL  ${Date.now() - from} ms  ${name}`, error);
      console.log(`FAILED ${name}: ${String(error).split("\n")[0]}`);
    }
  }
} catch (error) {
  failed++;
  console.log(`FAILED the start: ${error}`);
} finally {
  closed?.kill();
  const left = stopStack(env);
  if (left !== "") {
    failed++;
    console.log(`FAILED the end: ${left}`);
  }
  rmSync(dir, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
