#!/usr/bin/env node
// model-sim: the interfaces of the models that coding engines call, for tests:
// OpenAI's Responses (codex) and chat completions (opencode), Gemini's
// generateContent and streamGenerateContent.
//
// A response depends on the request alone.  The last "SIM:<name>" in a text of
// the user selects it; names are those of SCENARIOS.  Requests without one get
// "ok".  The last "CASE:<tag>" is kept with the request.
//
// usage: model-sim.mjs PORT [KEY]
import { createServer } from "node:http";

const DONE = '{"__SKILL_DONE__": true}';
const ASK = '```ask_user\n{"kind": "single_choice", "prompt": "Which colour?", ' +
  '"options": ["red SIM:done", "blue SIM:done"]}\n```';

// What a scenario does: text; tool: the shell command that is called first;
// status: of an error; cut, stall: after half of the text; hold: no response.
export const SCENARIOS = {
  ok: { text: "ok" },
  hello: { text: "Hello, this is the simulated model. 你好！" },
  done: { text: `All is done.\n${DONE}` },
  question: { text: `I need to know more.\n${ASK}` },
  plain_question: { text: "Which colour?" },
  tool: { tool: "echo tool-output-1 | tee made.txt", text: `The tool has run.\n${DONE}` },
  tool_marker: { tool: `echo '${DONE}'`, text: "The tool has run." },
  tool_fails: { tool: "echo to-stderr >&2; exit 3", text: `The tool has failed.\n${DONE}` },
  tool_sleeps: { tool: "sleep 300", text: "never" },
  unauthorized: { status: 401, message: "Incorrect API key provided" },
  rate_limit: { status: 429, message: "Rate limit reached for sim-model" },
  error: { status: 500, message: "The server had an error" },
  cut: { text: "This answer breaks off in the middle of", cut: true },
  stall: { text: "This answer never continues after this", stall: true },
  hold: { hold: true },
  long: { text: `${Array.from({ length: 2000 }, (_, i) => `Line ${i}.\n`).join("")}${DONE}` },
};

// ---- requests ----

function textOf(content) {
  if (typeof content === "string")
    return content;
  return (content ?? []).map((part) => part.text ?? "").join("\n");
}

// The messages of any of the three: {user, text, result}.
function messagesOf(api, body) {
  if (api === "responses") {
    const input = typeof body.input === "string"
      ? [{ role: "user", content: body.input }] : body.input ?? [];
    return input.map((item) => ({ user: item.role === "user",
      text: textOf(item.content), result: /_output$/.test(item.type ?? "") }));
  }
  if (api === "chat")
    return (body.messages ?? []).map((m) => ({ user: m.role === "user",
      text: textOf(m.content), result: m.role === "tool" }));
  return (body.contents ?? []).map((c) => ({ user: c.role === "user",
    text: textOf(c.parts), result: (c.parts ?? []).some((p) => p.functionResponse) }));
}

function scenarioOf(api, body) {
  let name = "ok", results = 0, tag;
  for (const m of messagesOf(api, body)) {
    if (m.user)
      tag = m.text.match(/.*CASE:([a-z0-9]+)/s)?.[1] ?? tag;
    const found = m.user ? [...m.text.matchAll(/SIM:([a-z_]+)/g)].at(-1) : null;
    if (found)
      [name, results] = [found[1], 0];
    else if (m.result)
      results++;
  }
  const scenario = SCENARIOS[name] ?? { status: 400, message: `no scenario ${name}` };
  // opencode names its sessions with a call of their own.
  const title = api === "chat" && !(body.tools?.length > 0);
  return { name, tag, ...(title && !scenario.status ? { text: "A title" } : scenario),
    ...(results > 0 || title ? { tool: undefined } : {}) };
}

// The engine's shell tool, called as the request offers it.
function shellCall(api, body, command) {
  const names = api === "gemini"
    ? (body.tools ?? []).flatMap((t) => t.functionDeclarations ?? []).map((f) => f.name)
    : (body.tools ?? []).map((t) => t.name ?? t.function?.name);
  const forms = {
    exec_command: { cmd: command },
    shell_command: { command },
    shell: { command: ["bash", "-c", command] },
    bash: { command, description: "a command of the test" },
    run_shell_command: { command, description: "a command of the test" },
  };
  const name = Object.keys(forms).find((n) => names.includes(n));
  if (name === undefined)
    throw Error(`no shell among the tools ${names}`);
  return { name, args: forms[name] };
}

// ---- responses ----

const USAGE = { input: 100, cached: 40, output: 20, reasoning: 5 };

function pieces(text, n) {
  const all = [...text], size = Math.ceil(all.length / n);
  return Array.from({ length: n }, (_, i) => all.slice(i * size, (i + 1) * size).join(""))
    .filter((p) => p !== "");
}

const FORMS = {
  responses: {
    // The events of a whole answer; a cut one has the first half of them.
    stream({ text, call, id }) {
      const item = call
        ? { type: "function_call", id: `fc_${id}`, call_id: `call_${id}`, name: call.name,
            arguments: JSON.stringify(call.args) }
        : { type: "message", role: "assistant", id: `msg_${id}`,
            content: [{ type: "output_text", text, annotations: [] }] };
      const events = [{ type: "response.created", response: { id: `resp_${id}` } }];
      if (!call)
        events.push({ type: "response.output_item.added", output_index: 0,
          item: { ...item, content: [] } });
      for (const delta of call ? [] : pieces(text, 4))
        events.push({ type: "response.output_text.delta", item_id: item.id,
          output_index: 0, content_index: 0, delta });
      events.push({ type: "response.output_item.done", output_index: 0, item });
      events.push({ type: "response.completed", response: { id: `resp_${id}`, output: [item],
        usage: { input_tokens: USAGE.input, output_tokens: USAGE.output,
          input_tokens_details: { cached_tokens: USAGE.cached },
          output_tokens_details: { reasoning_tokens: USAGE.reasoning },
          total_tokens: USAGE.input + USAGE.output } } });
      return events.map((e) => `event: ${e.type}\ndata: ${JSON.stringify(e)}\n\n`);
    },
    error: (status, message) => ({ error: { message, type: "sim_error", param: null,
      code: `sim_${status}` } }),
  },
  chat: {
    stream({ text, call, id }) {
      const chunk = (delta, finish_reason = null) => ({ id: `chatcmpl-${id}`,
        object: "chat.completion.chunk", created: 1, model: "sim-model",
        choices: [{ index: 0, delta, finish_reason }] });
      const chunks = [chunk({ role: "assistant", content: "" })];
      for (const content of call ? [] : pieces(text, 4))
        chunks.push(chunk({ content }));
      if (call)
        chunks.push(chunk({ tool_calls: [{ index: 0, id: `call_${id}`, type: "function",
          function: { name: call.name, arguments: JSON.stringify(call.args) } }] }));
      chunks.push(chunk({}, call ? "tool_calls" : "stop"));
      chunks.push({ id: `chatcmpl-${id}`, object: "chat.completion.chunk", created: 1,
        model: "sim-model", choices: [], usage: { prompt_tokens: USAGE.input,
          completion_tokens: USAGE.output, total_tokens: USAGE.input + USAGE.output,
          prompt_tokens_details: { cached_tokens: USAGE.cached },
          completion_tokens_details: { reasoning_tokens: USAGE.reasoning } } });
      return [...chunks.map((c) => `data: ${JSON.stringify(c)}\n\n`), "data: [DONE]\n\n"];
    },
    error: (status, message) => ({ error: { message, type: "sim_error", param: null,
      code: `sim_${status}` } }),
  },
  gemini: {
    // The answer in parts; the last has the reason why it ends.
    parts({ text, call }) {
      const contents = call
        ? [{ functionCall: { name: call.name, args: call.args } }]
        : pieces(text, 4).map((t) => ({ text: t }));
      return contents.map((part, i) => ({ candidates: [{ index: 0,
        content: { role: "model", parts: [part] },
        ...(i === contents.length - 1 ? { finishReason: "STOP" } : {}) }],
        modelVersion: "sim-model",
        usageMetadata: { promptTokenCount: USAGE.input,
          cachedContentTokenCount: USAGE.cached,
          candidatesTokenCount: USAGE.output - USAGE.reasoning,
          thoughtsTokenCount: USAGE.reasoning,
          totalTokenCount: USAGE.input + USAGE.output } }));
    },
    stream(answer) {
      return this.parts(answer).map((p) => `data: ${JSON.stringify(p)}\r\n\r\n`);
    },
    whole(answer) {
      const all = this.parts(answer);
      const last = all.at(-1);
      last.candidates[0].content.parts = all.map((p) => p.candidates[0].content.parts[0]);
      return last;
    },
    error: (status, message) => ({ error: { code: status, message,
      status: { 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED" }[status] ?? "INTERNAL" } }),
  },
};

// ---- the server ----

// Which interface a path is of, and whether the request is for a stream.
function routeOf(method, url) {
  const path = url.split("?")[0];
  if (method === "POST" && path.endsWith("/responses"))
    return { api: "responses" };
  if (method === "POST" && path.endsWith("/chat/completions"))
    return { api: "chat" };
  const gemini = path.match(/\/models\/[^/]+:(streamG|g)enerateContent$/);
  if (method === "POST" && gemini)
    return { api: "gemini", whole: gemini[1] === "g" };
  if (method === "POST" && path.endsWith(":countTokens"))
    return { json: { totalTokens: USAGE.input } };
  if (method === "GET" && path.endsWith("/models"))
    return { json: { object: "list", data: [{ id: "sim-model", object: "model" }], models: [] } };
  return null;
}

function sendJson(res, status, value) {
  res.writeHead(status, { "Content-Type": "application/json" });
  res.end(JSON.stringify(value));
}

async function respond(sim, req, res, body) {
  const route = routeOf(req.method, req.url);
  const entry = { method: req.method, url: req.url, headers: req.headers };
  sim.requests.push(entry);
  if (route === null)
    return sendJson(res, 404, { error: { message: `no route ${req.url}` } });
  const key = req.headers.authorization?.replace(/^Bearer /, "") ??
    req.headers["x-goog-api-key"] ?? "";
  if (route.json)
    return sendJson(res, 200, route.json);
  const form = FORMS[route.api];
  const plan = scenarioOf(route.api, body);
  if (key !== sim.key)
    return sendJson(res, 401, form.error(401, "the key is not that of the simulated model"));
  Object.assign(entry, { scenario: plan.name, tag: plan.tag });
  if (plan.hold)
    return;
  if (plan.status)
    return sendJson(res, plan.status, form.error(plan.status, plan.message));
  const answer = { text: plan.text, id: sim.requests.length,
    call: plan.tool && shellCall(route.api, body, plan.tool) };
  if (route.whole)
    return sendJson(res, 200, form.whole(answer));
  const events = form.stream(answer);
  const half = plan.cut || plan.stall ? Math.ceil(events.length / 2) : events.length;
  res.writeHead(200, { "Content-Type": "text/event-stream" });
  for (const event of events.slice(0, half)) {
    res.write(event);
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (plan.cut)
    res.destroy();
  else if (!plan.stall)
    res.end();
}

// A server that runs, with {port, requests, close()}.
export async function startModelSim({ port = 0, key = "" } = {}) {
  const sim = { key, requests: [] };
  const server = createServer(async (req, res) => {
    const chunks = [];
    for await (const chunk of req)
      chunks.push(chunk);
    try {
      const text = Buffer.concat(chunks).toString();
      await respond(sim, req, res, text === "" ? {} : JSON.parse(text));
    } catch (error) {
      sim.requests.push({ error: String(error) });
      sendJson(res, 400, { error: { message: String(error) } });
    }
  });
  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  sim.port = server.address().port;
  sim.close = () => {
    server.closeAllConnections();
    server.close();
  };
  return sim;
}

if (import.meta.url === `file://${process.argv[1]}`) {
  const sim = await startModelSim({ port: Number(process.argv[2]), key: process.argv[3] ?? "" });
  console.log(`model-sim: http://127.0.0.1:${sim.port}`);
}
