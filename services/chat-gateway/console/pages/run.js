// run: the conversation of one run, with its questions and files.
import { each, html, onEnd, signal } from "../lib/dom.js";
import { name, number, t } from "../lib/i18n.js";
import { backOff, call, get, query, randomId, stream } from "../lib/net.js";
import { question } from "../lib/question.js";
import { action, confirmed, heading, json, loaded, resource } from "../lib/ui.js";

// The question that a text ends with is shown as one.
const withoutQuestion = (text) => text.replace(/```ask_user[^]*?(```|$)/g, "").trim();
const ENDED = /^conversation\.(completed|failed)$/;

// Follows the events of a run from the first one, and continues after a cut.
async function follow(path, abort, take) {
  let cursor = 0;
  let ended = false;
  for (let n = 0; !ended && !abort.signal.aborted;) {
    try {
      await stream("GET", `${path}/events${query({ cursor })}`, { abort: abort.signal,
        onEvent: ({ id, data }) => {
          const event = JSON.parse(data);
          n = 0;
          cursor = Number(id || event.seq);
          ended ||= ENDED.test(event.type);
          take(event);
        } });
    } catch (error) {
      if (error.name === "AbortError" || [401, 403, 404].includes(error.status))
        return;
    }
    if (!ended)
      await new Promise((resolve) => setTimeout(resolve, backOff(n++)));
  }
}

export default function run(id) {
  const path = `/v1/runs/${encodeURIComponent(id)}`;
  const record = resource(() => get(path));
  const files = resource(async () => (await get(`${path}/files`)).items);
  const lines = signal([]);
  const asked = signal(null);
  const content = signal(null);
  const abort = new AbortController();
  onEnd(() => abort.abort());
  const put = (key, role, text) => {
    const old = lines.peek().find((l) => l.key === key);
    if (old)
      old.text.value = text(old.text.peek());
    else
      lines.value = [...lines.peek(), { key, role, text: signal(text("")) }];
  };
  follow(path, abort, ({ seq, type, data }) => {
    if (type === "assistant.message.delta")
      put(data.message_id, "assistant", (before) => before + data.text_delta);
    else if (type === "assistant.message.final")
      put(data.message_id ?? `e${seq}`, "assistant", () => withoutQuestion(data.text));
    else if (type === "user.input.required") {
      asked.value = data.interaction_id ? data : null;
      record.reload();
    } else if (type === "user.input.replied") {
      asked.value = null;
      put(`e${seq}`, "user", () => data.content ?? "");
    } else if (type === "diagnostic.warning")
      put(`e${seq}`, "tool", () => `${data.code ?? ""} ${data.message ?? ""}`);
    else if (ENDED.test(type)) {
      asked.value = null;
      if (data.error)
        put(`e${seq}`, "tool", () => `✗ ${data.error.code} ${data.error.message ?? ""}`);
      record.reload();
      files.reload();
    }
  });
  const answer = async (q, text) => {
    await call("POST", `${path}/reply`, { interaction_id: q.interaction_id, content: text,
      idempotency_key: randomId("k_") });
    await record.reload();
  };
  const cancel = async () => {
    await call("POST", `${path}/cancel`);
    await record.reload();
  };
  const remove = async () => {
    if (!await confirmed(t("run.delete?", { name: id })))
      return;
    await call("DELETE", path);
    location.hash = "#/runs";
  };
  const show = async (file) => {
    content.value = await get(`${path}/files/content${query({ path: file.path })}`);
  };
  const about = (r) => html`<p><code>${r.state}</code> ${t(`run.${r.state}`)} · ${name(r.engine)}</p>
    <p class="actions">${r.ended_at ? action(t("delete"), remove, { danger: true })
      : action(t("run.cancel"), cancel, { danger: true })}</p>`;
  return html`${heading(() => name(record.value.value?.title || id))}
    <p><a href="#/runs">${t("page.runs")}</a></p><section class="card">${loaded(record, about)}</section>
    <ul class="log" tabindex="0" aria-label=${t("chat.messages")}>${each(() => lines.value, (l) => l.key, (l) =>
      html`<li class=${`bubble ${l.role}`}><p>${() => l.text.value}</p></li>`)}</ul>
    ${() => asked.value && html`<section class="card">${question(asked.value, answer)}</section>`}
    <section class="card"><h2>${t("files")}</h2>${loaded(files, (items) => items.length
      ? html`<ul>${items.map((f) => html`<li>${action(name(f.path), () => show(f))}
        ${number(f.bytes)} B · ${f.change}</li>`)}</ul>` : html`<p class="quiet">${t("nothing")}</p>`)}
      ${() => content.value && json(content.value)}</section>`;
}
