// live: one stream of events for all tabs of a browser.
//
// The tab that holds the lock reads GET /v1/live and passes on what it gets; all
// tabs remember the cursor, so that the next holder continues where it ended.
// Without locks (a page that is not at https or loopback) each tab reads for itself.
import { effect, onEnd, signal } from "./dom.js";
import { backOff, loginNeeded, stream, token } from "./net.js";

// "off", "connecting", "live", "reconnecting"
export const liveState = signal("off");
export const liveGap = signal(0); // how often events were missing

const listeners = new Set();
const channel = new BroadcastChannel("soul.live");
let cursor = "";
let leading = false;
let abort = null;
let wake = () => {};

// fn({type, payload, seq, …}) until the scope ends.
export function onLive(fn) {
  listeners.add(fn);
  onEnd(() => listeners.delete(fn));
}

function deliver(message) {
  if (message.state)
    liveState.value = message.state;
  if (message.gap)
    liveGap.value++;
  if (message.cursor)
    cursor = message.cursor;
  if (message.event)
    listeners.forEach((fn) => fn(message.event));
}

function publish(message) {
  deliver(message);
  channel.postMessage({ ...message, who: token.peek() });
}

channel.onmessage = ({ data }) => {
  if (data.hello && leading)
    channel.postMessage({ state: liveState.peek(), cursor, who: token.peek() });
  else if (!data.hello && data.who === token.peek() && !leading)
    deliver(data);
};

function onEvent({ name, id, data }) {
  const event = JSON.parse(data);
  if (name === "live_notice" || event.code === "EVENTS_GONE")
    publish({ gap: true, cursor: String(event.cursor) });
  else
    publish({ event: { ...event, seq: Number(id) }, cursor: id || undefined });
}

async function read() {
  for (let n = 0; !abort.signal.aborted;) {
    try {
      publish({ state: n === 0 ? "connecting" : "reconnecting" });
      const at = cursor ? `?cursor=${cursor}` : "";
      await stream("GET", `/v1/live${at}`, { abort: abort.signal, onEvent,
        onOpen: () => {
          n = 0;
          publish({ state: "live" });
        } });
    } catch (error) {
      if (error.name === "AbortError")
        return;
      if (error.status === 401 || error.status === 403) {
        publish({ state: "off" });
        return;
      }
      if (error.status === 400 || error.status === 410)
        cursor = "";
    }
    publish({ state: "reconnecting" });
    await new Promise((resolve) => {
      wake = resolve;
      setTimeout(resolve, backOff(n++));
    });
  }
}

addEventListener("online", () => wake());
document.addEventListener("visibilitychange", () => document.hidden || wake());

function digest(text) {
  let sum = 5381;
  for (const c of text)
    sum = (sum * 33 + c.codePointAt(0)) % 4294967296;
  return sum.toString(16);
}

async function follow(mine) {
  const lead = async () => {
    if (mine.signal.aborted)
      return;
    leading = true;
    try {
      await read();
    } finally {
      leading = false;
    }
  };
  channel.postMessage({ hello: true });
  if (!navigator.locks) {
    await lead();
    return;
  }
  await navigator.locks.request(`soul.live.${digest(token.peek())}`,
    { signal: mine.signal }, lead).catch(() => {});
}

// The stream of the token that is valid; again when it changes.
export function startLive() {
  effect(() => {
    token.value;
    if (loginNeeded.value)
      return;
    abort?.abort();
    abort = new AbortController();
    cursor = "";
    follow(abort);
  });
}
