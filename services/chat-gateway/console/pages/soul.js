// soul: what it feels and why, its drives and its personality.
import { html, signal } from "../lib/dom.js";
import { face, moodOf } from "../lib/face.js";
import { clock, name, number, signed, t } from "../lib/i18n.js";
import { onLive } from "../lib/live.js";
import { call, clockAhead, get, query } from "../lib/net.js";
import { loadSouls, soul, souls } from "../lib/store.js";
import { AXES, plot } from "../lib/plot.js";
import { action, announce, confirmed, heading, loaded, meter, resource, time }
  from "../lib/ui.js";
import { soulForm } from "./home.js";

const SPANS = [["15m", 900], ["1h", 3600], ["1d", 86400], ["7d", 604800]];

function feelings(e, s) {
  const m = e.soul_emotion;
  return html`<section class="card">${face(m)}
    <p role="status">${moodOf(m)}</p>
    ${AXES.map((x) => meter(t(`axis.${x}`), m[x], -1, 1, signed(m[x])))}
    ${meter(t("ready"), e.exec_probability, 0, 1, `${number(100 * e.exec_probability)} %`)}
    <p>${t("exec_mode")}: <code>${e.exec_mode}</code> – ${t(`exec.${e.exec_mode}`)}</p>
    ${m.lock_until && html`<p>${t("locked", { time: clock(m.lock_until) })}</p>`}
    ${["boredom", "shock_load", "extreme_memory"].map((x) => m[x] !== undefined &&
      meter(t(x), m[x], 0, 1, number(m[x], 2)))}
    <p class="quiet">${name(s.name)} · ${s.mbti_type} · ${s.model_version}</p></section>`;
}

const drives = (e) => e.soul_emotion.drives && html`<section class="card">
  <h2>${t("drives")}</h2>${Object.entries(e.soul_emotion.drives).map(([key, value]) =>
    meter(t(`drive.${key}`), value, 0, 1, number(value, 2)))}</section>`;

const personality = (s, e) => html`<section class="card"><h2>${t("personality")}</h2>
  ${Object.entries(s.personality_vector).map(([key, value]) => {
    const drift = e.soul_emotion.drift?.[key];
    return meter(t(`trait.${key}`), value, 0, 1,
      number(value, 2) + (drift ? ` ${signed(drift)}` : ""));
  })}</section>`;

function history(items, now, span) {
  const to = Date.now() + clockAhead;
  const drawn = now ? [...items, { ...now.soul_emotion, time: to }] : items;
  const shown = items.filter((i) => Date.parse(i.time) >= to - 1000 * span.value);
  return html`<section class="card"><h2>${t("mood")}</h2>
    <p class="actions">${SPANS.map(([key, s]) => html`<button type="button"
      aria-pressed=${span.value === s ? "true" : "false"}
      class=${span.value === s ? "main" : ""}
      @click=${() => { span.value = s; }}>${t(`span.${key}`)}</button>`)}</p>
    ${plot(drawn, to - 1000 * span.value, to)}
    <p class="quiet">P ━  A ╍  D ┅  ${t("plot.legend")}</p>
    <h2>${t("causes")}</h2>
    ${shown.length === 0 ? html`<p class="quiet">${t("nothing")}</p>` : html`<table>
    <thead><tr><th scope="col">${t("time")}</th><th scope="col">${t("cause")}</th>
      <th scope="col">P A D</th></tr></thead><tbody>
    ${[...shown].reverse().slice(0, 50).map((i) => html`<tr>
      <td data-head=${t("time")}>${time(i.time)}</td>
      <td data-head=${t("cause")}>${t(`cause.${i.cause}`)} ${i.user_emotion &&
        html`<span>${i.user_emotion} ${number(i.intensity ?? 0, 2)}</span>`}</td>
      <td class="number" data-head="P A D">${AXES.map((x) =>
        `${signed(i[x])} (${signed(i.delta[x])})`).join("  ")}</td></tr>`)}</tbody></table>`}
    </section>`;
}

export default function soulPage() {
  const span = signal(3600);
  const id = () => soul()?.soul_id;
  const emotion = resource(() => id() ? get(`/v1/souls/${id()}/emotion`) : null);
  const past = resource(async () => id()
    ? (await get(`/v1/souls/${id()}/emotion/history${query({ limit: 256 })}`)).items : []);
  onLive(({ type, payload }) => {
    if (["emotion_update", "psyche_update"].includes(type) && payload.soul_id === id()) {
      emotion.reload();
      past.reload();
    }
  });
  const remove = async () => {
    const s = soul();
    if (!await confirmed(t("soul.delete?", { name: name(s.name) }), s.name))
      return;
    await call("DELETE", `/v1/souls/${s.soul_id}`);
    await loadSouls();
    announce(t("deleted"));
  };
  return html`${heading(() => souls.value && soul() ? name(soul().name) : t("page.soul"))}
    ${() => souls.value && !soul() && html`<p>${t("soul.none")}</p>`}
    ${() => soul() && html`<div class="columns"><div>
      ${loaded(emotion, (e) => e && [feelings(e, soul()), drives(e), personality(soul(), e)])}</div>
      <div>${loaded(past, (items) => history(items, emotion.value.value, span))}
      <p>${action(t("soul.delete"), remove, { danger: true })}</p></div></div>`}
    <section class="card"><h2>${t("soul.new")}</h2>${soulForm()}</section>`;
}
