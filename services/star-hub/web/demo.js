// demo: a page to try a hub with: connect, see who is there, talk.
import { connect } from "/star.js";

const WORDS = {
  en: {
    connecting: "connecting …", open: "connected", waiting: "connecting again …",
    closed: "not connected", join: "Join", leave: "Leave",
    members: (n) => `${n} here`, everybody: "everybody in it", you: "you",
    gap: "messages were missed", done: (text) => `done: ${text}`,
    says: (text) => `says: ${text}`, does: (text) => `does: ${text}`,
    accepted: "accepted by the demo page",
  },
  zh: {
    title: "Star 枢纽", who: "你是谁？", type: "类型", human: "人",
    agent: "智能体", environment: "环境", env: "环境", id: "标识",
    token: "访问令牌（如果枢纽需要）", connect: "连接", disconnect: "断开",
    places: "环境", noPlaces: "还没有环境。再打开一次本页，以环境的身份连接。",
    refresh: "刷新", messages: "消息", to: "发给", kind: "做什么", say: "说",
    action: "做（一个动作）", text: "内容", send: "发送",
    connecting: "正在连接……", open: "已连接", waiting: "正在重新连接……",
    closed: "未连接", join: "加入", leave: "离开",
    members: (n) => `${n} 位成员`, everybody: "其中的所有成员", you: "你",
    gap: "有消息没有收到", done: (text) => `完成：${text}`,
    says: (text) => `说：${text}`, does: (text) => `做：${text}`,
    accepted: "演示页已接受",
  },
};
const language = navigator.language.startsWith("zh") ? "zh" : "en";
const words = WORDS[language];
const LINES_MAX = 500;

const $ = (id) => document.getElementById(id);
let star = null;
const joined = new Set(); // environments, of a human

function translate() {
  document.documentElement.lang = language;
  for (const node of document.querySelectorAll("[data-word]"))
    node.textContent = words[node.dataset.word] ?? node.textContent;
}

function element(name, text, listener) {
  const node = document.createElement(name);
  node.textContent = text;
  if (listener !== undefined) {
    node.type = "button";
    node.addEventListener("click", listener);
  }
  return node;
}

function write(who, text, kind = "") {
  const line = document.createElement("li");
  line.className = kind;
  line.append(element("b", who), text);
  $("log").append(line);
  if ($("log").childElementCount > LINES_MAX)
    $("log").firstElementChild.remove();
  $("log").scrollTop = $("log").scrollHeight;
}

// An error may be an event and the rejection of a promise.
const written = new WeakSet();

function writeError(error) {
  if (!written.has(error))
    write(error.code ?? error.name, error.message, "error");
  written.add(error);
}

function showState() {
  const state = star?.state ?? "closed";
  $("status").textContent = words[state];
  for (const node of $("connect").elements)
    node.disabled = state !== "closed";
  $("disconnect").disabled = state === "closed";
  for (const node of [$("refresh"), $("say").querySelector("button")])
    node.disabled = state !== "open";
  if (state === "closed") {
    joined.clear();
    $("places").replaceChildren();
    $("to").replaceChildren();
    $("no-places").hidden = false;
  }
}

// ---- who is there ----

function place(env) {
  const line = document.createElement("li");
  line.append(element("strong", env.id), words.members(env.client_count));
  if (star.identity.type === "human") {
    const is = joined.has(env.id);
    line.append(element("button", is ? words.leave : words.join, async () => {
      if (is) {
        joined.delete(env.id);
        await star.leave(env.id);
      } else {
        await star.join(env.id);
        joined.add(env.id);
      }
      refresh();
    }));
  }
  return line;
}

function recipient(label, to) {
  const option = element("option", label);
  option.value = JSON.stringify(to);
  return option;
}

async function recipients(env_id) {
  const { members } = await star.request("get_members", { env_id });
  const mine = star.identity;
  const all = mine.type === "environment"
    ? recipient(words.everybody, { id: "*", type: "hub" })
    : recipient(env_id, { id: env_id, type: "environment" });
  return [all, ...members
    .filter((m) => m.id !== mine.id || m.type !== mine.type)
    .map((m) => recipient(`${env_id} / ${m.id}`, m.type === "agent"
      ? { ...m, env: env_id } : m))];
}

async function refresh() {
  const { environments } = await star.request("get_environments");
  $("places").replaceChildren(...environments.map(place));
  $("no-places").hidden = environments.length > 0;
  const { type, env } = star.identity;
  const mine = type === "human" ? [...joined] : [env];
  const to = $("to").value;
  $("to").replaceChildren(...(await Promise.all(mine.map(recipients))).flat());
  if ([...$("to").options].some((o) => o.value === to))
    $("to").value = to;
}

// ---- messages ----

function onEvent({ event, data }, { sender }) {
  write(sender.id, event === "dialogue"
    ? words.says(data?.message) : `${event} ${JSON.stringify(data ?? {})}`);
  if (sender.type === "hub" && star.state === "open")
    refresh();
}

function onAction(action, message) {
  write(message.sender.id,
    words.does(`${action.action} ${JSON.stringify(action.parameters ?? {})}`));
  if (star.identity.type === "environment")
    star.outcome(message, { status: "success", message: words.accepted });
}

async function send(to, kind, text) {
  if (kind === "say") {
    write(words.you, words.says(text));
    await star.event(to, "dialogue", { message: text });
  } else {
    write(words.you, words.does(text));
    const { status, message } = await star.action(to, text);
    write(to.id, words.done(`${status} ${message ?? ""}`));
  }
}

// ---- the forms ----

function showFields() {
  const type = $("type").value;
  $("env-label").hidden = type === "human";
  $("env").required = type !== "human";
  $("id-label").hidden = type === "environment";
  $("id").required = type !== "environment";
}

function path() {
  const id = encodeURIComponent($("id").value);
  const env = encodeURIComponent($("env").value);
  return { human: `/human/${id}`, environment: `/env/${env}`,
    agent: `/env/${env}/agent/${id}` }[$("type").value];
}

function start(event) {
  event.preventDefault();
  star = connect(path(), { token: $("token").value });
  star.on("open", () => { showState(); refresh(); });
  star.on("close", ({ code, reason }) => {
    write(words.closed, `${code} ${reason}`);
    showState();
  });
  star.on("error", (error) => { writeError(error); showState(); });
  star.on("gap", () => write(words.gap, ""));
  star.on("event", onEvent);
  star.on("action", onAction);
  showState();
}

translate();
showFields();
showState();
$("type").addEventListener("change", showFields);
$("connect").addEventListener("submit", start);
$("disconnect").addEventListener("click", () => star.close());
$("refresh").addEventListener("click", () => refresh());
$("say").addEventListener("submit", (event) => {
  event.preventDefault();
  send(JSON.parse($("to").value), $("kind").value, $("text").value);
  $("text").value = "";
});
window.addEventListener("unhandledrejection", (event) => {
  writeError(event.reason);
  event.preventDefault();
});
