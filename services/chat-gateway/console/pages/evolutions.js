// evolutions: capabilities that souls have asked for; the user decides.
import { html } from "../lib/dom.js";
import { name, t } from "../lib/i18n.js";
import { onLive } from "../lib/live.js";
import { call, get } from "../lib/net.js";
import { souls } from "../lib/store.js";
import { action, announce, confirmed, heading, loaded, resource, state, time }
  from "../lib/ui.js";

// What may be decided in a state: the route's last part, and whether it is asked
// once more, because a tool is gained or lost.
const DECISIONS = {
  proposed: [["approve", true], ["refuse", false]],
  refused: [["approve", true]],
  enabled: [["disable", true]],
  disabled: [["enable", true]],
};

const soulName = (id) => name(souls.value?.find((s) => s.soul_id === id)?.name ?? id);

const step = (s) => html`<li>${time(s.at)} ${t(`evolution.${s.state}`)}
  ${s.by && html`<code>${name(s.by)}</code>`} ${s.reason && name(s.reason)}</li>`;

function proposal({ proposal: p }) {
  return p && html`<p><strong>${name(p.title || p.name)}</strong> <code>${name(p.name)}</code><br>
    ${name(p.description)}</p>`;
}

export default function evolutions() {
  const list = resource(async () => (await get("/v1/evolutions")).evolutions);
  onLive(({ type, payload }) => type === "system_notification" &&
    payload.code?.startsWith("EVOLUTION_") && list.reload());
  const decide = async (e, what, ask) => {
    const called = name(e.proposal?.name ?? e.need);
    if (ask && !await confirmed(t(`evolution.${what}?`, { name: called })))
      return;
    try {
      await call("POST", `/v1/evolutions/${encodeURIComponent(e.evolution_id)}/${what}`);
    } finally {
      // It may have been decided elsewhere.
      await list.reload();
    }
    announce(t("saved"));
  };
  const card = (e) => html`<section class="card"><h2>${name(e.need)}</h2>
    <p>${state(e.state === "enabled", t(`evolution.${e.state}`))} ·
      ${t("evolution.asked-by", { name: soulName(e.soul_id) })} ${time(e.created_at)}</p>
    ${e.why && html`<p>${t("reason")}: ${name(e.why)}</p>`}
    ${e.example && html`<p>${t("evolution.example")} ${name(e.example)}</p>`}
    ${proposal(e)}
    ${DECISIONS[e.state] && html`<p class="actions">${DECISIONS[e.state].map(([what, ask]) =>
      action(t(`evolution.${what}`), () => decide(e, what, ask)))}</p>`}
    <details><summary>${t("evolution.steps", { n: e.step_count })}</summary>
      <ol>${e.steps.map(step)}</ol></details></section>`;
  return html`${heading(t("page.evolutions"))}<p class="quiet">${t("evolution.text")}</p>
    ${loaded(list, (all) => all.length ? all.map(card)
      : html`<p class="quiet">${t("evolution.none")}</p>`)}`;
}
