// device: this tab as a body: its connection, and what it shows.  It lives as long as
// the tab, whatever page is open.
import { signal } from "./dom.js";
import { t } from "./i18n.js";
import { Mqtt } from "./mqtt.js";
import { backOff } from "./net.js";
import { TabBody, reports } from "./tab_body.js";

const ALARMS = "soul.body.alarms";
const ALARMS_MAX = 32;
const HEARTBEAT_MS = 10000;
const VOICE_MS = 3000;
const TIMER_MAX = 2 ** 31 - 1;

// "off", "connecting", "online", "reconnecting"
export const deviceState = signal("off");
export const deviceError = signal(null); // what ended it last
export const lamp = signal("off");
export const mood = signal({ pad: { p: 0, a: 0, d: 0 }, mode: "", emotion: "" });
export const motion = signal("");
export const said = signal([]); // {text, voice}, the newest first
export const notice = signal("");
export const alarms = signal(readAlarms()); // {due, label}, the next first
export const ringing = signal(null);

let wanted = null; // {terminal, password} while it is to be a body
let client = null;
let timer;
let sound = null;

function readAlarms() {
  const kept = JSON.parse(localStorage.getItem(ALARMS) ?? "[]");
  return kept.filter(({ due }) => due > Date.now() - 60000);
}

// ---- skills ----

function speaks(text, language) {
  return new Promise((resolve, reject) => {
    const utterance = new SpeechSynthesisUtterance(text);
    utterance.lang = language;
    const late = setTimeout(() => reject(Error("the voice has not started")), VOICE_MS);
    utterance.onstart = () => {
      clearTimeout(late);
      resolve();
    };
    utterance.onerror = ({ error }) => {
      clearTimeout(late);
      reject(Error(`the voice has failed: ${error}`));
    };
    speechSynthesis.speak(utterance);
  });
}

// Its text is shown in any case; the result says whether a voice has begun.
export async function speak(text) {
  const voice = (globalThis.speechSynthesis?.getVoices().length ?? 0) > 0;
  said.value = [{ text, voice }, ...said.peek()].slice(0, 5);
  if (!voice)
    return "shown as text: this browser has no voice";
  await speaks(text, /[\u4e00-\u9fff]/.test(text) ? "zh-CN" : "en-US");
  return "the voice has begun";
}

function keepAlarms(list) {
  alarms.value = list.sort((a, b) => a.due - b.due);
  localStorage.setItem(ALARMS, JSON.stringify(alarms.peek()));
  clearTimeout(timer);
  if (alarms.peek().length)
    timer = setTimeout(ring, Math.min(TIMER_MAX, Math.max(0, alarms.peek()[0].due - Date.now())));
}

function ring() {
  const [next, ...rest] = alarms.peek();
  if (!next || next.due > Date.now()) {
    keepAlarms(alarms.peek());
    return;
  }
  ringing.value = next;
  sound ??= globalThis.AudioContext && new AudioContext();
  if (sound) {
    const tone = sound.createOscillator();
    tone.connect(sound.destination);
    tone.start();
    tone.stop(sound.currentTime + 1);
  }
  keepAlarms(rest);
}

export const silence = () => { ringing.value = null; };
export const dropAlarm = (alarm) => keepAlarms(alarms.peek().filter((a) => a !== alarm));

const skills = {
  lamp: (color) => { lamp.value = color; },
  alarm: (alarm) => {
    if (alarms.peek().length >= ALARMS_MAX)
      throw Error(`${ALARMS_MAX} alarms are set already`);
    keepAlarms([...alarms.peek(), alarm]);
  },
  head: ({ motion: kind, ms }) => {
    motion.value = kind;
    setTimeout(() => { motion.value = ""; }, ms);
  },
  speak,
  mood: (m) => { mood.value = m; },
  status: (text) => { notice.value = text; },
};

// ---- the connection ----

const topic = (terminal, name) => `soul/terminal/${terminal}/${name}`;

async function announce(at, terminal) {
  const send = (name, payload) =>
    at.publish(topic(terminal, name), payload, { qos: 1, retain: true });
  const { skills: tools, intent_catalog: intents } = reports(terminal);
  await at.subscribe(["invoke/+", "intent_action", "emotion_update", "status"]
    .map((name) => topic(terminal, name)));
  await send("online", "online");
  await send("skills", JSON.stringify(tools));
  await send("intent_catalog", JSON.stringify(intents));
}

// Browsers slow down the timers of a hidden tab, but not its messages.
function heart(at, terminal) {
  let last = -HEARTBEAT_MS;
  return () => {
    if (client !== at || deviceState.peek() !== "online" ||
        performance.now() - last < HEARTBEAT_MS - 500)
      return;
    last = performance.now();
    at.publish(topic(terminal, "heartbeat"), "1").catch(() => {});
  };
}

async function open(self, n = 0) {
  const { terminal, password } = self;
  const url = new URL("/mqtt", location.href.replace(/^http/, "ws"));
  const at = new Mqtt(new WebSocket(url, "mqtt"));
  const body = new TabBody(terminal, skills, (name, payload) =>
    at.publish(topic(terminal, name), JSON.stringify(payload), { qos: 1 }).catch(() => {}));
  const beat = heart(at, terminal);
  const beats = setInterval(beat, HEARTBEAT_MS);
  client = at;
  at.onMessage = (message) => {
    beat();
    body.message(message).catch((error) => { notice.value = error.message; });
  };
  at.onEnd = (error) => {
    clearInterval(beats);
    if (wanted !== self)
      return;
    deviceError.value = error;
    // A wrong password stays wrong.
    if (error.code > 0) {
      leave();
      return;
    }
    deviceState.value = "reconnecting";
    setTimeout(() => wanted === self && open(self, n + 1), backOff(n));
  };
  try {
    await at.connect({ clientId: terminal, username: password ? terminal : "", password,
      will: { topic: topic(terminal, "online"), payload: "offline" } });
    await announce(at, terminal);
    n = -1;
    deviceError.value = null;
    deviceState.value = "online";
    beat();
  } catch {
    // onEnd() has it.
  }
}

export function join(terminal, password) {
  leave();
  deviceError.value = null;
  notice.value = "";
  deviceState.value = "connecting";
  // Sound needs the user's click.
  sound ??= globalThis.AudioContext && new AudioContext();
  keepAlarms(alarms.peek());
  wanted = { terminal, password };
  open(wanted);
}

export const joined = () => wanted?.terminal ?? "";

export function leave() {
  const at = client;
  const from = wanted?.terminal;
  wanted = client = null;
  deviceState.value = "off";
  if (at && from)
    at.publish(topic(from, "online"), "offline", { qos: 1, retain: true })
      .catch(() => {}).finally(() => at.end());
}

export const stateText = () => t(`device.${deviceState.value}`);
