// try: what would be recognised in a sentence.  Nothing is stored or executed.
import { html, signal } from "../lib/dom.js";
import { name, number, signed, t } from "../lib/i18n.js";
import { Failure, call, get } from "../lib/net.js";
import { download, field, form, heading, json, loaded, meter, resource, table }
  from "../lib/ui.js";

const OPTIONS = { return_debug_candidates: true, return_debug_entities: true,
  enable_alarm_intents: true };

// The sentence with the spans of its intents marked; positions are code points.
export function parts(command, intents) {
  const points = [...command];
  const cut = (from, to) => points.slice(from, to).join("");
  const spans = intents.map((i, n) => ({ n, ...(i.source_span ?? i.span ?? {}) }))
    .filter(({ start, end }) => start < end).sort((a, b) => a.start - b.start);
  const made = [];
  let at = 0;
  for (const { n, start, end } of spans) {
    if (start < at)
      continue;
    made.push([cut(at, start), -1], [cut(start, end), n]);
    at = end;
  }
  return [...made, [cut(at), -1]].filter(([text]) => text);
}

const number2 = (x) => number(x ?? 0, 2);

function intent(i, n) {
  return html`<section class="card"><h2><mark class=${`span${n % 3}`}>${n + 1}</mark>
    <code>${name(i.intent_id)}</code> ${name(i.intent_name ?? "")}</h2>
    <p><code>${i.status}</code> · ${t("try.confidence")} ${number2(i.confidence)}
      ${i.missing_parameters?.length > 0 && html`<span class="bad">${t("try.missing")}
        ${i.missing_parameters.map((p) => html`<code>${name(p)}</code> `)}</span>`}</p>
    <p>${t("try.evidence")}: ${(i.evidence ?? []).map((e) => html`<span><code>${e.type}</code>
      ${name(e.value ?? "")} ${number2(e.score)}; </span>`)}</p>
    <h3>${t("try.slots")}</h3>${json(i.parameters ?? {})}
    <h3>${t("try.sent")}</h3>${json(i.normalized ?? {})}</section>`;
}

function recognised({ request, intents: r }) {
  return html`<section class="card"><h2>${t("try.result")}</h2>
    <p class="sentence">${parts(request.command, r.intents).map(([text, n]) => n < 0 ? text
      : html`<mark class=${`span${n % 3}`}>${text}<sub>${n + 1}</sub></mark>`)}</p>
    <p><code>${r.decision.action}</code> ${t(`decision.${r.decision.action}`)}
      <span class="quiet">${r.decision.reason}</span></p>
    <p class="quiet">${r.meta.now} · ${r.meta.timezone} · ${r.meta.locale} ·
      ${number(r.meta.latency_ms, 1)} ms</p>
    ${r.candidates?.length > 0 && html`<h3>${t("try.candidates")}</h3>${table(
      t("try.candidates"), [[t("intents"), (c) => html`<code>${name(c.intent_id)}</code>`],
        [t("try.segment"), (c) => c.segment_index],
        [t("try.confidence"), (c) => number2(c.confidence)]], () => r.candidates)}`}
    ${r.meta.extracted_entities?.length > 0 && html`<h3>${t("try.entities")}</h3>${table(
      t("try.entities"), [[t("kind"), (e) => html`<code>${e.type}</code>`],
        [t("content"), (e) => name(e.text)], [t("profile.value"), (e) => name(e.value ?? "")]],
      () => r.meta.extracted_entities)}`}</section>${r.intents.map(intent)}`;
}

const felt = (e) => html`<section class="card"><h2>${t("try.emotion")}</h2>
  <p><code>${e.emotion}</code> ${e.second && html`<span class="quiet">${t("try.second")}
    <code>${e.second}</code></span>`}</p>
  ${meter(t("try.intensity"), e.intensity, 0, 1, number2(e.intensity))}
  ${meter(t("try.confidence"), e.confidence ?? 0, 0, 1, number2(e.confidence))}
  ${["p", "a", "d"].map((x) => meter(t(`axis.${x}`), e[x], -1, 1, signed(e[x])))}
  ${table(t("try.evidence"), [[t("try.evidence"), (x) => name(x.text)],
    [t("kind"), (x) => html`<code>${x.rule}</code>`],
    [t("try.emotion"), (x) => html`<code>${x.emotion}</code>`],
    [t("try.weight"), (x) => signed(x.weight)]], () => e.evidence ?? [])}</section>`;

function pasted(text) {
  try {
    const given = JSON.parse(text);
    const list = given.intent_catalog ?? given;
    if (Array.isArray(list))
      return list;
  } catch {
    // Said below.
  }
  throw new Failure(400, { error: `intent_catalog: ${t("try.nojson")}` });
}

export default function tryPage() {
  const bodies = resource(async () => (await get("/v1/terminals")).items);
  const done = signal(null);
  const run = async ({ command, terminal_id, intent_catalog, now, timezone }) => {
    const request = { command, options: OPTIONS,
      ...(now ? { now: new Date(now).toISOString() } : {}), ...(timezone ? { timezone } : {}) };
    if (intent_catalog.trim()) {
      request.intent_catalog = pasted(intent_catalog);
    } else if (terminal_id) {
      request.catalog_ref = { terminal_id };
      request.skills = (await get(
        `/v1/terminals/${encodeURIComponent(terminal_id)}/reports`)).skills;
    }
    done.value = null;
    const emotion = await call("POST", "/v1/emotion/analyze", { text: command, debug: true });
    done.value = { request, emotion, intents: request.intent_catalog || request.catalog_ref
      ? await call("POST", "/v1/intents/filter", request) : null };
  };
  const save = () => download(`${JSON.stringify(done.peek(), null, 2)}\n`, "case.json");
  return html`${heading(t("page.try"))}<p class="quiet">${t("try.text")}</p>
    <section class="card">${loaded(bodies, (items) => form(t("page.try"), html`
      ${field(t("try.sentence"), "command", { required: true, maxLength: 16384,
        autocomplete: "off" })}
      ${field(t("try.catalog"), "terminal_id", { options: [
        ...items.map((b) => [b.terminal_id, name(b.terminal_id)]), ["", t("try.nocatalog")]] })}
      <details><summary>${t("try.more")}</summary>
      ${field(t("try.pasted"), "intent_catalog", { kind: "textarea" })}
      ${field(t("try.now"), "now", { kind: "datetime-local" })}
      ${field(t("try.zone"), "timezone", { placeholder: "Asia/Shanghai" })}</details>`, run))}
    </section>
    <div aria-live="polite">${() => done.value && html`
      ${done.value.intents && recognised({ request: done.value.request,
        intents: done.value.intents })}${felt(done.value.emotion)}
      <p><button type="button" @click=${save}>${t("try.save")}</button></p>`}</div>`;
}
