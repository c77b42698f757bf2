// plot: P, A and D over time.  Between two samples is a line to the value before the
// next cause, then the cause's own jump: a line between sparse samples would show a
// rise that has not happened.
import { html } from "./dom.js";
import { clock, t } from "./i18n.js";

const [WIDTH, HEIGHT, EDGE] = [640, 200, 28];
export const AXES = ["p", "a", "d"];

const timeOf = ({ time }) => new Date(time).getTime();

// The points of one axis: [time, value] of items, oldest first.  Pure.
export function linePoints(items, axis) {
  return items.flatMap((item, i) => {
    const at = timeOf(item);
    const jump = item.delta?.[axis] ?? 0;
    return i > 0 && jump !== 0
      ? [[at, item[axis] - jump], [at, item[axis]]] : [[at, item[axis]]];
  });
}

export function scale(from, to) {
  const span = Math.max(1, to - from);
  return ([at, value]) => [EDGE + (WIDTH - 2 * EDGE) * (at - from) / span,
    HEIGHT / 2 - (HEIGHT / 2 - EDGE / 2) * Math.max(-1, Math.min(1, value))];
}

// items: of the emotion's history; to: the end of the time shown, ms.
export function plot(items, from, to) {
  const shown = items.filter((item) => timeOf(item) >= from);
  const at = scale(from, to);
  const path = (axis) => linePoints(shown, axis).map((point, i) =>
    `${i ? "L" : "M"}${at(point).map((x) => x.toFixed(1)).join(" ")}`).join("");
  const causes = shown.filter(({ cause }) => cause === "user_input");
  return html`<svg class="plot" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img"
      aria-label=${t("plot", { n: shown.length })}>
    <path class="axis" d=${`M${EDGE} ${HEIGHT / 2}H${WIDTH - EDGE}`}></path>
    <text x="4" y=${EDGE / 2 + 4}>1</text><text x="4" y=${HEIGHT / 2 + 4}>0</text>
    <text x="4" y=${HEIGHT - EDGE / 2 + 4}>-1</text>
    <text x=${EDGE} y=${HEIGHT - 2}>${clock(from)}</text>
    <text x=${WIDTH - EDGE} y=${HEIGHT - 2} class="end">${clock(to)}</text>
    ${causes.map((item) => svg("path", { class: "cause",
      d: `M${at([timeOf(item), 0])[0].toFixed(1)} ${EDGE / 2}V${HEIGHT - EDGE / 2}` }))}
    ${AXES.map((axis) => svg("path", { class: `line ${axis}`, d: path(axis) || "M0 0" }))}
    ${AXES.flatMap((axis) => shown.map((item) => {
      const [cx, cy] = at([timeOf(item), item[axis]]);
      return svg("circle", { class: `dot ${axis}`, cx, cy, r: 2 });
    }))}
  </svg>`;
}

// Elements that a list makes inside of an svg: html`` would make them HTML.
function svg(tag, attributes) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes))
    node.setAttribute(name, value);
  return node;
}
