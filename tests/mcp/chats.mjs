#!/usr/bin/env node
// chats: on a stack as "make run" starts it, with the real server for files, a chat
// reads a file, and writes one when the user approves it.
//
// usage: chats.mjs [part of a name]
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startStack, stopStack } from "../testkit/stack.mjs";

const FILTER = process.argv[2] ?? process.env.TEST_FILTER ?? "";
const WAIT_MS = 60000;
const dir = mkdtempSync(join(tmpdir(), "soul-mcp-chats-"));
const file = join(dir, "stack/demo-files/a.txt");
const env = { ...process.env, STACK_DIR: join(dir, "stack"),
  STACK_BIN: resolve(process.env.MCP_BIN ?? "build/release/bin"),
  npm_config_prefix: join(dir, "npm") };
let gateway;

// As "npm install -g" would have installed them; ports that are free.
function begin() {
  mkdirSync(join(dir, "npm/lib"), { recursive: true });
  symlinkSync(resolve("build/mcp/node_modules"), join(dir, "npm/lib/node_modules"));
  gateway = startStack(env).CHAT_GATEWAY_URL;
}

async function post(path, body) {
  const r = await fetch(gateway + path, { method: "POST",
    headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  const text = await r.text();
  assert.equal(r.status, 200, `${path}: ${text}`);
  return JSON.parse(text);
}

const ids = { user_id: "demo-user", terminal_id: "terminal-001" };

const chat = async (text) => (await post("/v1/chat",
  { ...ids, session_id: "s1", inputs: [{ type: "keyboard_text", text }] })).reply;

// The tools of a server are known some time after it has started.
async function chatUntil(text, part) {
  const end = Date.now() + WAIT_MS;
  for (;;) {
    const reply = await chat(text);
    if (reply.includes(part))
      return;
    assert(Date.now() < end, `${text}: ${reply}, not ${part}`);
    await new Promise((r) => setTimeout(r, 50));
  }
}

async function ckChat(text, part) {
  const reply = await chat(text);
  assert(reply.includes(part), `${text}: ${reply}, not ${part}`);
}

const cases = {
  async a_chat_reads_a_file() {
    const { soul_id } = await post("/v1/souls",
      { user_id: ids.user_id, name: "小元", mbti_type: "INFJ" });
    await post("/v1/souls/select", { ...ids, soul_id });
    await chatUntil("把 a.txt 里的内容读给我听", "The sea is calm today.");
  },

  async a_chat_writes_a_file_that_is_approved() {
    const write = "把「moon」写到 a.txt", question = "要用 files 的工具「write_file」";
    await ckChat(write, question);
    await ckChat("不要", "没有做");
    assert.match(readFileSync(file, "utf8"), /calm today/);
    await ckChat(write, question);
    await ckChat("这次可以", '"ok":true');
    assert.equal(readFileSync(file, "utf8"), "moon");
  },
};

let passed = 0, failed = 0;
begin();
for (const [name, run] of Object.entries(cases).filter(([name]) => name.includes(FILTER))) {
  try {
    await run();
    passed++;
  } catch (error) {
    failed++;
    console.log(`${name}: ${error.stack}`);
  }
}
const left = stopStack(env);
if (failed > 0 || left !== "")
  console.log(left, readFileSync(join(dir, "stack/mcp.json"), "utf8"));
rmSync(dir, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 || left !== "" ? 1 : 0);
