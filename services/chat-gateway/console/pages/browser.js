// browser: this tab as a body, with a face, a lamp, alarms and a voice.
import { html, signal } from "../lib/dom.js";
import { alarms, deviceError, deviceState, dropAlarm, join, joined, lamp, leave, motion, mood,
  notice, ringing, said, silence, speak, stateText } from "../lib/device.js";
import { face, moodOf } from "../lib/face.js";
import { name, t } from "../lib/i18n.js";
import { call, get, randomId } from "../lib/net.js";
import { ownTerminal, soul } from "../lib/store.js";
import { action, field, form, heading, state, time } from "../lib/ui.js";

// The body has its soul before it connects.
async function begin({ terminal_id, password }) {
  const terminal = terminal_id.trim();
  const { items } = await get("/v1/terminals");
  if (items.find((b) => b.terminal_id === terminal)?.soul_id !== soul().soul_id)
    await call("POST", "/v1/souls/select", { terminal_id: terminal, soul_id: soul().soul_id });
  join(terminal, password);
}

function start() {
  return html`<section class="card"><p>${t("device.text")}</p>
    ${() => deviceError.value && html`<div class="error" role="alert">
      <p>${t("device.failed")}</p><p lang="en">${name(deviceError.value.message)}</p></div>`}
    ${form(t("device.start"), html`
      ${field(t("terminal"), "terminal_id", { required: true, maxLength: 128,
        value: ownTerminal(), autocomplete: "off" })}
      ${field(t("device.password"), "password", { kind: "password", autocomplete: "off" })}`, begin)}
    </section>`;
}

function head() {
  return () => html`<div class=${`head ${motion.value}`}>${face(mood.value.pad)}</div>
    <p>${moodOf(mood.value.pad)}${mood.value.mode && ` · ${t(`exec.${mood.value.mode}`)}`}
    ${motion.value && html`<strong>${t(`device.${motion.value}`)}</strong>`}</p>`;
}

function lampShown() {
  return () => html`<p class="row"><span class=${`lamp ${lamp.value}`} aria-hidden="true"></span>
    <span role="status">${t("device.lamp")}: ${t(`lamp.${lamp.value}`)}</span></p>`;
}

function alarmsShown() {
  return () => html`${ringing.value && html`<div class="banner" role="alert">⏰
      ${name(ringing.value.label || t("alarm.alarm"))}
      <button type="button" @click=${silence}>${t("stop")}</button></div>`}
    <h2>${t("page.alarms")}</h2>${alarms.value.length
      ? html`<ul>${alarms.value.map((a) => html`<li>${time(new Date(a.due).toISOString())}
        ${name(a.label)} <button type="button" @click=${() => dropAlarm(a)}>${t("delete")}</button></li>`)}</ul>`
      : html`<p class="quiet">${t("device.noalarm")}</p>`}`;
}

// What is said here is said to the soul in this body; its reply is spoken.
function talk() {
  const session = randomId("tab-");
  const heard = signal("");
  const send = async ({ text }, node) => {
    const { reply } = await call("POST", "/v1/chat", { session_id: session,
      terminal_id: joined(), soul_id: soul().soul_id, inputs: [{ type: "keyboard_text", text,
        input_id: randomId("in-") }] });
    heard.value = text;
    node.reset();
    if (reply)
      await speak(reply).catch((error) => { notice.value = error.message; });
  };
  return html`${form(t("send"), field(t("chat.text"), "text",
    { required: true, maxLength: 2000, autocomplete: "off", placeholder: t("device.try") }), send)}
    ${() => heard.value && html`<p class="quiet">${t("role.user")}: ${heard.value}</p>`}
    <div role="log">${() => said.value.map((s) => html`<p class="bubble">${s.text}</p>`)}</div>`;
}

function body() {
  return html`<div class="columns"><section class="card">${head()}${lampShown()}
      ${() => notice.value && html`<p role="status">${name(notice.value)}</p>`}${alarmsShown()}
    </section><section class="card">${talk()}</section></div>`;
}

export default function browser() {
  return html`${heading(t("page.browser"), html`${() =>
    state(deviceState.value === "online", stateText())} ${() => deviceState.value !== "off" &&
      html`<code>${name(joined())}</code> ${action(t("device.stop"), leave)}`}`)}
    ${() => !soul() && html`<p>${t("soul.none")} <a href="#/home">${t("page.home")}</a></p>`}
    ${() => soul() && (deviceState.value === "off" ? start() : null)}
    ${() => soul() && (deviceState.value !== "off") && body()}`;
}
