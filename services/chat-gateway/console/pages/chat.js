// chat: sessions, the conversation, and what was really done.
import { each, effect, html, signal } from "../lib/dom.js";
import { ago, has, name, number, t } from "../lib/i18n.js";
import { onLive } from "../lib/live.js";
import { call, get, randomId, stream } from "../lib/net.js";
import { ownTerminal, soul } from "../lib/store.js";
import { action, announce, confirmed, failure, heading, loaded, resource } from "../lib/ui.js";
import { question } from "../lib/question.js";

const meaning = (code) => `code.${code.toLowerCase()}`;

// What is known of a reply.
function facts(m) {
  const r = m.result.value;
  const turn = m.turn.value;
  if (!r && !m.code.value)
    return null;
  return html`<div class="facts">
    ${m.code.value && html`<p class="bad">✗ ${t("chat.failed")} <code>${m.code.value}</code>
      ${has(meaning(m.code.value)) && t(meaning(m.code.value))}</p>`}
    ${r?.executed_skills?.map((skill) =>
      html`<p class="good">✓ <code>${name(skill)}</code> ${t("chat.confirmed")}</p>`)}
    ${r?.failed_skills?.map(({ skill, error }) => html`<p class="bad">✗ <code>${name(skill)}</code>
      ${t("chat.unconfirmed")} ${name(error)}</p>`)}
    ${r?.intent_decision && html`<p class="quiet"><code>${r.intent_decision}</code>
      ${t(`decision.${r.intent_decision}`)}
      ${r.exec_mode && html`<span> · <code>${r.exec_mode}</code></span>`}</p>`}
    ${turn && html`<p>${timeline(turn)}</p>`}</div>`;
}

function timeline(turn) {
  const record = signal(null);
  const show = async () => { record.value = await get(`/v1/turns/${turn}`); };
  return html`${action(t("turn"), show)}${() => record.value && html`<table>
    <caption>${t("turn.total", { ms: number(record.value.total_ms ?? 0, 1),
      state: record.value.state })}</caption>
    <thead><tr><th scope="col">${t("stage")}</th><th scope="col">${t("start")}</th>
    <th scope="col">ms</th><th scope="col">${t("outcome")}</th></tr></thead><tbody>
    ${(record.value.timeline ?? []).map((s) => html`<tr><td data-head=${t("stage")}>${s.stage}
      ${s.what && html`<code>${name(s.what)}</code>`}</td>
      <td class="number" data-head=${t("start")}>${number(s.start_ms, 1)}</td>
      <td class="number" data-head="ms">${number(s.ms ?? 0, 1)}</td>
      <td data-head=${t("outcome")}>${s.outcome ?? ""}</td></tr>`)}</tbody></table>`}`;
}

// Ids of conversations that nobody has begun.
const fresh = new Set();

function freshId() {
  const id = randomId("s_");
  fresh.add(id);
  return id;
}

const message = (role, text, more = {}) => ({ key: randomId("m"), role,
  text: signal(text), result: signal(null), code: signal(""), turn: signal(""),
  asked: signal(null), ...more });

function bubble(m, answer) {
  return html`<li class=${`bubble ${m.role}`}><p><span class="hidden">${t(`role.${m.role}`)}: </span>${
    () => m.text.value || (m.role === "assistant" && !m.code.value ? "…" : "")}</p>
    ${() => facts(m)}
    ${() => m.asked.value && question(m.asked.value, answer)}</li>`;
}

// The conversation that is shown.
class Conversation {
  id = "";
  shown = signal(""); // the same
  messages = signal([]);
  busy = signal(false);
  turn = signal("");
  error = signal(null);
  loading = null;

  open(id) {
    this.id = this.shown.value = id;
    this.messages.value = [];
    this.error.value = null;
    if (!fresh.has(id))
      this.load();
  }

  async load() {
    const { id } = this;
    try {
      const { items } = await get(`/v1/sessions/${encodeURIComponent(id)}/messages`);
      if (id !== this.id || this.busy.peek())
        return;
      this.messages.value = items.filter((m) => /^(user|assistant)$/.test(m.role) && m.content)
        .map((m) => message(m.role, m.content, { turn: signal(m.turn_id ?? "") }));
    } catch (error) {
      if (error.status !== 404)
        this.error.value = error;
    }
  }

  add(m) {
    this.messages.value = [...this.messages.peek(), m];
    return m;
  }

  // Rejects if nothing was accepted: then the text belongs into the input again.
  async send(terminal, text, accepted) {
    this.error.value = null;
    this.busy.value = true;
    const asked = this.add(message("user", text));
    const reply = this.add(message("assistant", ""));
    let begun = false;
    try {
      await stream("POST", "/v1/chat", {
        body: { session_id: this.id, terminal_id: terminal, stream: true,
          ...(soul() ? { soul_hint: soul().soul_id } : {}),
          inputs: [{ type: "keyboard_text", text, input_id: randomId("in_"),
            ts: new Date().toISOString(), source: "console" }] },
        onOpen: accepted,
        onEvent: ({ data }) => {
          begun = true;
          this.#event(JSON.parse(data), reply);
        } });
      if (!reply.ended)
        reply.code.value = "turn_lost";
    } catch (error) {
      const known = begun || [502, 504].includes(error.status);
      if (!known)
        this.messages.value = this.messages.peek().filter((m) => m !== asked && m !== reply);
      else
        reply.code.value = error.code || "turn_lost";
      this.error.value = error;
      if (!known)
        throw error;
    } finally {
      this.busy.value = false;
      this.turn.value = "";
    }
  }

  #event({ type, run_id, data }, reply) {
    this.turn.value = reply.turn.value = run_id;
    if (type === "assistant.message.delta")
      reply.text.value += data.text_delta;
    else if (type === "assistant.message.final") {
      reply.text.value = data.text;
      if (data.structured_payload)
        reply.result.value = data.structured_payload;
      announce(data.text);
    } else if (type === "user.input.required")
      reply.asked.value = data.interaction_id ? data : null;
    else if (type === "conversation.failed")
      reply.code.value = data.error.code;
    reply.ended ||= /^conversation\.(completed|failed)$|^user\.input\.required$/.test(type);
  }

  async answer(asked, content) {
    const r = await call("POST", `/v1/sessions/${encodeURIComponent(this.id)}/reply`,
      { interaction_id: asked.interaction_id, content });
    for (const m of this.messages.peek())
      if (m.asked.peek()?.interaction_id === asked.interaction_id)
        m.asked.value = null;
    const reply = this.add(message("assistant", r.reply));
    reply.result.value = r;
    reply.turn.value = r.turn_id ?? "";
    announce(r.reply);
  }
}

const title = (s) => name(s.last_text ?? s.session_id).slice(0, 60);

export default function chat(id) {
  const talk = new Conversation();
  const bodies = resource(async () => (await get("/v1/terminals")).items);
  const list = resource(async () => (await get("/v1/sessions")).items);
  const terminal = signal("");
  let box;
  talk.open(id || freshId());
  const draft = () => `soul.draft.${talk.id}`;
  // Without a choice the latest, once it is known, unless the user was faster.
  let chosenFor = Boolean(id);
  effect(() => {
    const [latest] = list.value.value ?? [];
    if (chosenFor || !latest)
      return;
    chosenFor = true;
    if (box.value || talk.messages.peek().length)
      return;
    talk.open(latest.session_id);
    box.value = sessionStorage.getItem(draft()) ?? "";
  });
  onLive(({ type, payload }) => {
    if (type === "turn_completed")
      list.reload();
    if (type === "turn_completed" && payload.session_id === talk.id && !talk.busy.peek() &&
        !talk.messages.peek().some((m) => m.turn.peek() === payload.turn_id))
      talk.load();
  });
  const chosen = () => terminal.value ||
    bodies.value.value?.find((b) => b.soul_id === soul()?.soul_id && b.online)?.terminal_id ||
    bodies.value.value?.find((b) => b.soul_id === soul()?.soul_id)?.terminal_id ||
    ownTerminal();
  const keep = () => sessionStorage.setItem(draft(), box.value);
  async function send(event) {
    event?.preventDefault();
    const text = box.value.trim();
    if (!text || talk.busy.peek() || !navigator.onLine)
      return;
    box.value = "";
    keep();
    const begun = () => {
      chosenFor = true;
      fresh.delete(talk.id);
    };
    try {
      await talk.send(chosen(), text, begun);
    } catch (error) {
      if (error.status === undefined)
        throw error;
      if (!box.value)
        box.value = text;
      keep();
    }
    box.focus();
  }
  const key = (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing && event.keyCode !== 229)
      send(event);
  };
  const stop = () => talk.turn.peek() &&
    call("POST", `/v1/turns/${talk.turn.peek()}/cancel`, { reason: "console" });
  const remove = async (s) => {
    if (!await confirmed(t("chat.delete?", { text: title(s) })))
      return;
    try {
      await call("DELETE", `/v1/sessions/${encodeURIComponent(s.session_id)}`);
    } catch (error) {
      if (error.status !== 404)
        throw error;
    }
    await list.reload();
    if (s.session_id === talk.id)
      location.hash = `#/chat/${freshId()}`;
  };
  const choices = () => {
    const all = new Set([...(bodies.value.value ?? []).map((b) => b.terminal_id), ownTerminal()]);
    const now = chosen();
    return [...all].map((x) => html`<option value=${x} ?selected=${x === now}>${
      x === ownTerminal() ? t("chat.browser") : name(x)}</option>`);
  };
  return html`${heading(t("page.chat"))}<div class="columns"><section>
    <p><a href=${`#/chat/${freshId()}`}>${t("chat.new")}</a></p>
    ${loaded(list, () => null)}
    <ul class="log">${() => (list.value.value ?? []).map((s) => html`<li class="card">
      <a href=${`#/chat/${encodeURIComponent(s.session_id)}`}
        aria-current=${() => s.session_id === talk.shown.value ? "true" : null}>${title(s)}</a>
      <p class="quiet">${ago(s.last_activity)} · ${name(s.terminal_id ?? "")}</p>
      ${action(t("delete"), () => remove(s), { danger: true })}</li>`)}</ul></section>
    <section><div class="field"><label for="terminal">${t("chat.body")}</label>
      <select id="terminal" @change=${(e) => { terminal.value = e.target.value; }}>${choices}</select></div>
    ${loaded(bodies, () => null)}
    <ul class="log" tabindex="0" aria-label=${t("chat.messages")}>${
      each(() => talk.messages.value, (m) => m.key, (m) => bubble(m, (q, c) => talk.answer(q, c)))}</ul>
    ${() => failure(talk.error.value)}
    <form @submit=${send}><div class="field"><label for="text">${t("chat.text")}</label>
      <textarea id="text" maxlength="16384" .value=${sessionStorage.getItem(draft()) ?? ""}
        ref=${(n) => { box = n; }} @keydown=${key} @input=${keep}></textarea></div>
      <p class="actions"><button class="main" ?disabled=${() => talk.busy.value}>${t("send")}</button>
      ${() => talk.busy.value && action(t("stop"), stop)}</p></form></section></div>`;
}
