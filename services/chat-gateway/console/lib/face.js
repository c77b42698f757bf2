// face: a face drawn from pleasure (mouth), arousal (eyes) and dominance (brows).
import { html } from "./dom.js";
import { signed, t } from "./i18n.js";

const clamp = (x) => Math.max(-1, Math.min(1, x || 0));

// The word of a state, for who cannot see the face.
export function moodOf({ p, a }) {
  if (Math.abs(p) < 0.15 && Math.abs(a) < 0.25)
    return t("mood.calm");
  if (p >= 0)
    return t(a > 0.35 ? "mood.excited" : a < -0.2 ? "mood.relaxed" : "mood.glad");
  return t(a > 0.35 ? "mood.tense" : a < -0.2 ? "mood.gloomy" : "mood.sad");
}

export function face(pad, size = "large") {
  const [p, a, d] = [clamp(pad.p), clamp(pad.a), clamp(pad.d)];
  const eye = 3 + 2.5 * (a + 1);
  const mouth = `M32 66 Q50 ${66 + 16 * p} 68 66`;
  const left = `M26 ${30 + 6 * d} L42 ${30 - 4 * d}`;
  const right = `M58 ${30 - 4 * d} L74 ${30 + 6 * d}`;
  const label = `${moodOf(pad)}: P ${signed(p)}, A ${signed(a)}, D ${signed(d)}`;
  return html`<svg class=${`face ${size}`} viewBox="0 0 100 100" role="img" aria-label=${label}>
    <circle cx="50" cy="50" r="46" class="skin"></circle>
    <ellipse cx="35" cy="44" rx="4.5" ry=${eye}></ellipse>
    <ellipse cx="65" cy="44" rx="4.5" ry=${eye}></ellipse>
    <path d=${left}></path><path d=${right}></path><path d=${mouth}></path></svg>`;
}
