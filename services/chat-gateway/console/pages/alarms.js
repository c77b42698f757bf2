// alarms: what will ring, what each does then, and what became of it.
import { html, signal } from "../lib/dom.js";
import { name, t } from "../lib/i18n.js";
import { onLive } from "../lib/live.js";
import { call, get, query } from "../lib/net.js";
import { action, announce, confirmed, field, form, heading, loaded, resource, table, time }
  from "../lib/ui.js";

const KINDS = ["reminder", "alarm", "timer"];
const SNOOZE_MS = 3600000; // how long one that has rung can be snoozed

const zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

// What the form has of the time: words, or an exact one.
const whenOf = ({ when, exact, repeat }) => ({
  ...(exact ? { when: new Date(exact).toISOString() } : when ? { when } : {}),
  ...(repeat ? { repeat } : {}) });

// alarm-clock quotes the words that it did not understand, and names no field.
async function sent(method, path, body) {
  try {
    return await call(method, path, body);
  } catch (error) {
    if (error.status === 400)
      error.field ||= "when";
    throw error;
  }
}

const timeFields = () => html`
  ${field(t("alarm.when"), "when", { autocomplete: "off", maxLength: 256,
    placeholder: t("alarm.when.example") })}
  ${field(t("alarm.exact"), "exact", { kind: "datetime-local" })}
  ${field(t("alarm.repeat"), "repeat", { autocomplete: "off", maxLength: 256,
    placeholder: t("alarm.repeat.example") })}`;

function does(a) {
  const where = a.rang_on || a.terminal_id;
  if (a.action)
    return html`${t("alarm.acts")} ${name(a.action.request_text ?? "")}
      ${a.action.intents.map((i) => html`<code>${name(i.normalized.skill ?? i.intent_id)}</code> `)}`;
  return html`${t(a.self_ringing ? "alarm.self" : "alarm.speaks")}
    ${where ? name(where) : t("alarm.anywhere")}`;
}

const rule = ({ rule: r, zone: z }) =>
  `${t(`rule.${r.kind}`)} ${r.at ?? ""}${r.every_s ? ` ${r.every_s} s` : ""} · ${z}`;

const canSnooze = (a) => a.occurred_at && a.state !== "canceled" &&
  Date.now() - Date.parse(a.occurred_at) < SNOOZE_MS;

export default function alarms() {
  const ended = signal(false);
  const list = resource(async () =>
    (await get(`/v1/alarms${query({ all: ended.peek() ? "true" : "" })}`)).alarms);
  const bodies = resource(async () => (await get("/v1/terminals")).items);
  onLive(({ type }) => type === "alarm_state" && list.reload());
  const path = (a) => `/v1/alarms/${encodeURIComponent(a.alarm_id)}`;
  const set = async (values, node) => {
    const { kind, text, terminal_id } = values;
    const { alarm, on } = await sent("POST", "/v1/alarms", { kind, text: text.trim(),
      zone: zone(), ...whenOf(values), ...(terminal_id ? { terminal_id } : {}) });
    node.reset();
    await list.reload();
    announce(t("alarm.set", { moment: alarm.moment ?? "", body: name(on ?? "–") }));
  };
  const change = (a) => async (values) => {
    const { text } = values;
    await sent("PATCH", path(a), { ...whenOf(values), ...(text ? { text } : {}) });
    await list.reload();
    announce(t("saved"));
  };
  const snooze = async (a) => {
    await call("POST", `${path(a)}/snooze`, { seconds: 600 });
    await list.reload();
    announce(t("saved"));
  };
  const remove = async (a) => {
    if (!await confirmed(t("alarm.delete?", { text: name(a.text || a.alarm_id) })))
      return;
    await call("DELETE", path(a));
    await list.reload();
    announce(t("deleted"));
  };
  const edit = (a) => html`<details><summary>${t("alarm.change")}</summary>
    ${form(t("save"), html`${field(t("alarm.text"), "text", { value: a.text, maxLength: 1024 })}
      ${timeFields()}`, change(a))}</details>`;
  const ends = (a) => a.state === "canceled" || !a.next_at;
  const columns = [
    [t("alarm.next"), (a) => html`${time(a.next_at)} <span class="quiet">${rule(a)}</span>`],
    [t("kind"), (a) => t(`alarm.${a.kind}`)],
    [t("content"), (a) => name(a.text)],
    [t("alarm.does"), does],
    [t("state"), (a) => html`<code>${a.state}</code> ${t(`alarm.state.${a.state}`)}
      ${a.occurred_at && html`<span class="quiet">${time(a.occurred_at)}
        ${a.last_state && t(`alarm.state.${a.last_state}`)} ${a.reason &&
          html`<code>${a.reason}</code>`}</span>`}`],
    [t("action"), (a) => html`<span class="actions">
      ${canSnooze(a) && action(t("alarm.snooze"), () => snooze(a))}
      ${!ends(a) && action(t("delete"), () => remove(a), { danger: true })}</span>
      ${!ends(a) && edit(a)}`],
  ];
  const all = (event) => {
    ended.value = event.target.checked;
    list.reload();
  };
  return html`${heading(t("page.alarms"))}
    <p><input type="checkbox" id="ended" @change=${all}>
      <label for="ended">${t("alarm.ended")}</label></p>
    ${loaded(list, (items) => table(t("page.alarms"), columns, () => items,
      { text: (a) => `${a.text} ${a.kind} ${a.state}`, empty: t("alarm.none") }))}
    <section class="card"><h2>${t("alarm.new")}</h2><p class="quiet">${t("alarm.new.text")}</p>
    ${() => form(t("create"), html`
      ${field(t("kind"), "kind", { options: KINDS.map((k) => [k, t(`alarm.${k}`)]) })}
      ${field(t("alarm.text"), "text", { autocomplete: "off", maxLength: 1024 })}
      ${timeFields()}
      ${field(t("alarm.body"), "terminal_id", { options: [["", t("alarm.anywhere")],
        ...(bodies.value.value ?? []).map((b) => [b.terminal_id, name(b.terminal_id)])] })}`,
    set)}</section>`;
}
