// home: three steps for a newcomer, then a card a soul.
import { html, signal } from "../lib/dom.js";
import { face, moodOf } from "../lib/face.js";
import { ago, name, t } from "../lib/i18n.js";
import { onLive } from "../lib/live.js";
import { call, get } from "../lib/net.js";
import { choose, loadSouls, ownTerminal, soul, souls, soulsError }
  from "../lib/store.js";
import { announce, failure, field, form, heading, loaded, resource, state }
  from "../lib/ui.js";

const TYPES = ["ENFP", "ENFJ", "ENTP", "ENTJ", "ESFP", "ESFJ", "ESTP", "ESTJ",
  "INFP", "INFJ", "INTP", "INTJ", "ISFP", "ISFJ", "ISTP", "ISTJ"];

async function create({ name: called, mbti_type }) {
  const made = await call("POST", "/v1/souls", { name: called.trim(), mbti_type });
  choose(made.soul_id);
  await loadSouls();
  announce(t("home.created", { name: called }));
}

export const soulForm = () => form(t("create"), html`
  ${field(t("name"), "name", { required: true, maxLength: 128, autocomplete: "off" })}
  ${field(t("mbti"), "mbti_type", { options: TYPES.map((x) => [x, x]) })}`, create);

export default function home() {
  const bodies = resource(async () => (await get("/v1/terminals")).items);
  const said = signal(false);
  resource(async () => {
    said.value ||= (await get("/v1/sessions?limit=1")).items.length > 0;
    return true;
  });
  onLive(({ type }) => {
    if (type === "turn_completed")
      said.value = true;
    if (/^terminal_|^emotion_update|^turn_completed/.test(type)) {
      bodies.reload();
      loadSouls();
    }
  });
  const bind = async (terminal) => {
    await call("POST", "/v1/souls/select",
      { terminal_id: terminal, soul_id: soul().soul_id });
    await bodies.reload();
    announce(t("home.bound"));
  };
  const hasBody = () => (bodies.value.value?.length ?? 0) > 0;
  const step = (done, text, content) => html`<li><strong>${() =>
    html`<span class=${done() ? "good" : "quiet"}>${done() ? "✓" : "○"}</span>`} ${text}</strong>
    <span class="hidden">${() => t(done() ? "done" : "open")}</span>
    ${() => !done() && content()}</li>`;
  const steps = () => html`<section class="card"><h2>${t("home.first")}</h2><ol class="steps">
    ${step(() => souls.value.length > 0, t("home.step1"), soulForm)}
    ${step(hasBody, t("home.step2"), () => souls.value.length > 0 && html`
      <p>${t("home.body")}</p>
      ${form(t("bind"), field(t("terminal"), "terminal_id",
        { required: true, placeholder: "terminal-001", autocomplete: "off" }),
        ({ terminal_id }) => bind(terminal_id.trim()))}
      <p>${t("home.nobody")}</p>
      <p><a href="#/browser">${t("home.here")}</a></p>
      ${form(t("home.browser"), null, () => bind(ownTerminal()))}`)}
    ${step(() => said.value, t("home.step3"), () => hasBody() &&
      html`<p><a href="#/chat">${t("page.chat")}</a></p>`)}
  </ol></section>`;
  const card = (s) => html`<article class="card row">${face(s.emotion_state, "small")}<div>
    <h2><a href="#/soul" @click=${() => choose(s.soul_id)}>${name(s.name)}</a></h2>
    <p>${moodOf(s.emotion_state)} · ${s.mbti_type}<br>
    <span class="quiet">${t("home.last", { ago: ago(s.emotion_state.last_interaction_at) })}</span></p>
    ${() => bodies.value.value?.filter((b) => b.soul_id === s.soul_id).map((b) =>
      html`<p>${state(b.online, t(b.online ? "online" : "offline-body"))}
        <a href=${`#/body/${encodeURIComponent(b.terminal_id)}`}>${name(b.terminal_id)}</a></p>`)}
    </div></article>`;
  return html`${heading(t("page.home"))}
    ${() => !souls.value && (soulsError.value
      ? failure(soulsError.value, loadSouls) : html`<p class="quiet">${t("loading")}</p>`)}
    ${() => souls.value && loaded(bodies, () => null)}
    ${() => souls.value && bodies.value.value &&
      (souls.value.length === 0 || !hasBody() || !said.value) && steps()}
    ${() => souls.value && html`<div class="cards">${souls.value.map(card)}</div>`}`;
}
