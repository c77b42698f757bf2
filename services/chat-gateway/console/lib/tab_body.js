// tab_body: what a browser tab does as a body: its reports, its skills, and what it
// answers to each message.  Without a page and without a network.

const tool = (name, description, properties, required = []) =>
  ({ name, description, input_schema: { type: "object", properties, required } });
const oneOf = (...values) => ({ type: "string", enum: values });

export const SKILLS = [
  tool("control_light", "控制灯：开灯、关灯、设置颜色。set_color 必须给 color；on 不给 color 为白色。" +
    " The lamp: on, off, or a color.",
  { mode: oneOf("on", "off", "set_color"), color: oneOf("white", "red", "green", "blue") },
  ["mode"]),
  tool("create_alarm", "订闹钟，到点响一次。trigger_at（带时区）与 trigger_in_seconds 至少给一个。" +
    " An alarm that rings once.",
  { trigger_at: { type: "string" }, trigger_in_seconds: { type: "number", minimum: 1 },
    label: { type: "string", maxLength: 128 } }),
  tool("set_head_motion", "头部动作：点头/摇头，默认 1.5 秒。 Nod or shake the head.",
    { action: oneOf("点头", "摇头"),
      duration_seconds: { type: "number", minimum: 0.2, maximum: 10 } }, ["action"]),
  tool("speak", "说出一段文字。服务端主动说话时使用；回复用户时不要调用，回复本身会送达。",
    { text: { type: "string", minLength: 1, maxLength: 4096 } }, ["text"]),
];

const slot = (name, regex, required) => ({ name, regex, regex_group: 1, required });
const skill = (name) => ({ name: "skill", default: name });

export const INTENTS = [
  { id: "intent_light_control", name: "控制灯", priority: 90,
    match: { keywords_any: ["灯", "变红", "变绿", "变蓝", "变白", "lamp", "light"] },
    slots: [skill("control_light"),
      slot("mode", "(打?开灯|灯?打开|开启|关闭?灯|灯?关[了掉闭上]|变成?[红绿蓝白]色?|[红绿蓝白]灯|" +
        "on|off|red|green|blue|white)", true),
      slot("color", "(红|绿|蓝|白|red|green|blue|white)", false)] },
  { id: "intent_head_motion", name: "头部动作", priority: 80,
    match: { keywords_any: ["点头", "摇头"] },
    slots: [skill("set_head_motion"), slot("action", "(点头|摇头)", true)] },
];

export const reports = (terminal) => ({
  skills: { terminal_id: terminal, skill_version: 1, skills: SKILLS },
  intent_catalog: { terminal_id: terminal, catalog_version: 1, intent_catalog: INTENTS },
});

const COLORS = [[/红|red/i, "red"], [/绿|green/i, "green"], [/蓝|blue/i, "blue"],
  [/白|white/i, "white"]];
const colorOf = (text) => COLORS.find(([words]) => words.test(text))?.[1];

// The color of the lamp after that; words of a sentence are understood, too.
export function lampOf({ mode = "", color = "" }) {
  const wanted = colorOf(String(color)) ?? colorOf(String(mode));
  if (/关|off|close/i.test(mode))
    return "off";
  if (color && !colorOf(String(color)))
    throw Error("color: must be white, red, green or blue");
  if (wanted)
    return wanted;
  if (/开|on|open/i.test(mode) && !/color/i.test(mode))
    return "white";
  throw Error(/color/i.test(mode) ? "color: is needed by set_color"
    : "mode: must be on, off or set_color");
}

const FAR_MS = 366 * 86400 * 1000;

export function alarmOf({ trigger_at: at, trigger_in_seconds: seconds, label }, now) {
  const due = seconds !== undefined ? now + 1000 * Number(seconds) : Date.parse(at);
  if (!Number.isFinite(due))
    throw Error("trigger_at: must be a time, or trigger_in_seconds a number");
  if (due <= now || due > now + FAR_MS)
    throw Error("trigger_at: must be in the future, within a year");
  return { due, label: String(label ?? "").slice(0, 128) };
}

export function motionOf({ action, duration_seconds: seconds = 1.5 }) {
  const motion = { 点头: "nod", 摇头: "shake" }[action];
  if (!motion)
    throw Error("action: must be 点头 or 摇头");
  const ms = 1000 * Number(seconds);
  if (!(ms >= 200 && ms <= 10000))
    throw Error("duration_seconds: must be 0.2 to 10");
  return { motion, ms };
}

const KNOWN = 256; // request ids
const OLD_MS = 10000;

// What a body does with messages: device has lamp(color), alarm({due, label}), head({motion,
// ms}), speak(text), mood({pad, mode, emotion}) and status(text), each of which may be
// async and throws what it cannot do; send(name, payload) publishes a result.
export class TabBody {
  #done = new Map(); // results by request id; each request is carried out once
  blocked = false;

  constructor(terminal, device, send, now = Date.now) {
    Object.assign(this, { terminal, device, send, now });
  }

  async message({ topic, payload, retain }) {
    const [, terminal, kind, request] = topic.match(/terminal\/([^/]+)\/([^/]+)(?:\/(.+))?$/) ?? [];
    const m = JSON.parse(payload);
    if (terminal !== this.terminal || retain || typeof m !== "object" || m === null)
      return;
    if (kind === "invoke")
      await this.#invoke(request, m);
    else if (kind === "intent_action")
      await this.#intents(m);
    else if (kind === "emotion_update")
      this.#mood(m);
    else if (kind === "status")
      this.device.status(String(m.message ?? m.status ?? ""));
  }

  async #invoke(request, { request_id: id, skill: name, arguments: given }) {
    if (id !== request)
      return;
    if (!this.#done.has(id))
      this.#remember(id, this.#result(id, name, given ?? {}));
    this.send(`result/${id}`, await this.#done.get(id));
  }

  async #result(id, name, given) {
    try {
      return { request_id: id, ok: true, output: await this.#act(name, given) };
    } catch (error) {
      return { request_id: id, ok: false, output: `${name} failed`, error: error.message };
    }
  }

  #remember(id, result) {
    this.#done.set(id, result);
    if (this.#done.size > KNOWN)
      this.#done.delete(this.#done.keys().next().value);
  }

  async #intents({ request_id: id, terminal_id: terminal, ts, intents = [] }) {
    if (this.#done.has(id) || terminal !== this.terminal ||
        this.now() - Date.parse(ts) > OLD_MS)
      return;
    this.#remember(id, null);
    for (const { normalized = {} } of intents)
      await this.#act(normalized.skill, normalized).catch((error) =>
        this.device.status(error.message));
  }

  async #act(name, given) {
    if (this.blocked)
      throw Error("blocked: the soul does not want to act now");
    if (name === "control_light") {
      const color = lampOf(given);
      await this.device.lamp(color);
      return `the lamp is ${color}`;
    }
    if (name === "create_alarm") {
      const alarm = alarmOf(given, this.now());
      await this.device.alarm(alarm);
      return `an alarm is set for ${new Date(alarm.due).toISOString()}`;
    }
    if (name === "set_head_motion") {
      await this.device.head(motionOf(given));
      return "the head moves";
    }
    if (name === "speak" && typeof given.text === "string" && given.text)
      return this.device.speak(given.text.slice(0, 4096));
    throw Error(name === "speak" ? "text: is needed" : `${name}: there is no such skill`);
  }

  // The face follows every update; a tick is nothing that was said.
  #mood({ soul_emotion: pad, exec_mode: mode, user_emotion: user, session_id: session }) {
    this.blocked = mode === "blocked";
    this.device.mood({ pad, mode,
      emotion: session === "system_decay_tick" ? "" : user?.emotion ?? "" });
  }
}
