// ui: what pages are made of: requests with their state, errors, forms, tables.
import { effect, html, onEnd, signal } from "./dom.js";
import { clock, has, name, t } from "./i18n.js";
import { loginNeeded, token } from "./net.js";

export function announce(text) {
  document.getElementById("announcer").textContent = text;
}

// The server's text, what it means, and the trace to copy.
export function failure(error, retry) {
  if (!error)
    return null;
  const kind = error.status === 0 ? "error.offline" : `error.${error.status}`;
  return html`<div class="error" role="alert">
    <p>${has(kind) ? t(kind, { s: error.wait || 1 }) : t("error.other")}</p>
    ${error.message && html`<p lang="en">${name(error.message)}</p>`}
    ${error.trace && html`<p class="quiet">${t("trace")} <code>${error.trace}</code></p>`}
    ${retry && html`<button type="button" @click=${retry}>${t("retry")}</button>`}
  </div>`;
}

// What load() resolves with: value, error and busy are signals; reload() repeats
// it.  What is shown stays, until the next answer is there.
export function resource(load) {
  const self = { value: signal(undefined), error: signal(null), busy: signal(false),
    reload };
  let newest = 0;
  let timer;
  async function reload() {
    const n = ++newest;
    clearTimeout(timer);
    self.busy.value = true;
    try {
      const value = await load();
      if (n !== newest)
        return;
      self.value.value = value;
      self.error.value = null;
    } catch (error) {
      if (n !== newest)
        return;
      self.error.value = error;
      if ([0, 429, 503].includes(error.status))
        timer = setTimeout(reload, 1000 * (error.wait || 3));
    } finally {
      if (n === newest)
        self.busy.value = false;
    }
  }
  onEnd(() => {
    newest++;
    clearTimeout(timer);
  });
  effect(() => {
    token.value;
    if (!loginNeeded.value)
      reload();
  });
  return self;
}

// Its error, "loading", or what show(value) makes.
export function loaded(r, show) {
  return html`${() => failure(r.error.value, r.reload)}
    ${() => r.value.value === undefined
      ? r.error.value ? null : html`<p class="quiet">${t("loading")}</p>`
      : show(r.value.value)}`;
}

export function heading(text, ...more) {
  return html`<header class="page"><h1 tabindex="-1">${text}</h1>${more}</header>`;
}

let fields = 0;

// A labelled control; more: attributes of the control as [name, value].
export function field(label, key, { kind = "text", value = "", options, ...more } = {}) {
  const id = `f${++fields}`;
  const control = document.createElement(
    options ? "select" : kind === "textarea" ? "textarea" : "input");
  if (control.tagName === "INPUT")
    control.type = kind;
  for (const [option, text] of options ?? [])
    control.append(new Option(text, option));
  Object.assign(control, { id, name: key }, more);
  if (kind === "checkbox")
    control.checked = Boolean(value);
  else if (value !== "")
    control.value = value;
  control.setAttribute("aria-describedby", `${id}e`);
  return html`<div class="field">
    <label for=${id}>${label}</label>${control}
    <p class="wrong" id=${`${id}e`} data-for=${key}></p></div>`;
}

// A form: send(values, form) may reject with a Failure, which is shown at the field
// that it names.  What was typed stays.
export function form(label, content, send) {
  const error = signal(null);
  const busy = signal(false);
  async function submit(event) {
    event.preventDefault();
    const node = event.target;
    if (busy.peek())
      return;
    for (const wrong of node.querySelectorAll(".wrong"))
      wrong.textContent = "";
    error.value = null;
    busy.value = true;
    try {
      await send(Object.fromEntries(new FormData(node)), node);
    } catch (e) {
      show(node, e);
    } finally {
      busy.value = false;
    }
  }
  function show(node, e) {
    if (e.status === undefined)
      throw e;
    const at = e.field &&
      node.querySelector(`.wrong[data-for="${CSS.escape(e.field)}"]`);
    if (!at || e.status === 401) {
      error.value = e;
      return;
    }
    at.textContent = name(e.message);
    node.elements[e.field].focus();
  }
  return html`<form @submit=${submit}>${content}
    ${() => failure(error.value)}
    <button class="main" ?disabled=${() => busy.value}>${label}</button></form>`;
}

// A button whose work may fail; the error is shown beside it.
export function action(label, run, { danger, title } = {}) {
  const error = signal(null);
  const busy = signal(false);
  async function click() {
    busy.value = true;
    error.value = null;
    try {
      await run();
    } catch (e) {
      if (e.status === undefined)
        throw e;
      error.value = e;
    } finally {
      busy.value = false;
    }
  }
  return html`<span class="action"><button type="button" class=${danger ? "danger" : ""}
    title=${title} ?disabled=${() => busy.value} @click=${click}>${label}</button>
    ${() => failure(error.value)}</span>`;
}

// Resolves with whether the user confirmed; typed: text that must be typed.
export function confirmed(text, typed) {
  return new Promise((resolve) => {
    const given = signal("");
    let node;
    const end = (yes) => {
      node.close();
      node.remove();
      resolve(yes);
    };
    document.body.append(html`<dialog ref=${(n) => { node = n; }}
      aria-labelledby="confirm" @cancel=${(e) => {
        e.preventDefault();
        end(false);
      }}><p id="confirm">${text}</p>
      ${typed && html`<div class="field"><label for="typed">${t("type-it", { text: typed })}</label>
        <input id="typed" autocomplete="off"
          @input=${(e) => { given.value = e.target.value; }}></div>`}
      <p class="actions"><button type="button" @click=${() => end(false)}>${t("cancel")}</button>
      <button type="button" class="danger" ?disabled=${() => typed && given.value !== typed}
        @click=${() => end(true)}>${t("confirm")}</button></p></dialog>`);
    node.showModal();
  });
}

const PAGE_ROWS = 50;

// rows: a function that returns an array; columns: [label, cell(row)] each.  At most
// 50 rows are in the document.
export function table(label, columns, rows, { empty = t("nothing"), text, filter } = {}) {
  const first = signal(0);
  const wanted = signal(filter ?? "");
  const found = () => {
    const all = rows();
    const lower = wanted.value.toLowerCase();
    return text && lower ? all.filter((r) => text(r).toLowerCase().includes(lower)) : all;
  };
  const search = (event) => {
    wanted.value = event.target.value;
    first.value = 0;
  };
  const row = (r) => html`<tr>${columns.map(([head, cell]) =>
    html`<td data-head=${head}>${cell(r)}</td>`)}</tr>`;
  return html`${text && html`<p><input type="search" class="filter" value=${wanted.peek()}
      aria-label=${t("filter")} placeholder=${t("filter")} @input=${search}></p>`}
    ${() => {
      const all = found();
      const at = Math.min(first.value, Math.max(0, all.length - 1));
      if (all.length === 0)
        return html`<p class="quiet">${empty}</p>`;
      return html`<table><caption class="hidden">${label}</caption>
        <thead><tr>${columns.map(([head]) => html`<th scope="col">${head}</th>`)}</tr></thead>
        <tbody>${all.slice(at, at + PAGE_ROWS).map(row)}</tbody></table>
        ${all.length > PAGE_ROWS && html`<p class="actions">
          <button type="button" ?disabled=${at === 0}
            @click=${() => { first.value = Math.max(0, at - PAGE_ROWS); }}>${t("previous")}</button>
          <span>${t("rows", { from: at + 1, to: Math.min(at + PAGE_ROWS, all.length),
            of: all.length })}</span>
          <button type="button" ?disabled=${at + PAGE_ROWS >= all.length}
            @click=${() => { first.value = at + PAGE_ROWS; }}>${t("next")}</button></p>`}`;
    }}`;
}

export function meter(label, value, min, max, shown) {
  return html`<div class="meter"><span>${label}</span>
    <meter min=${min} max=${max} value=${value} aria-label=${label}></meter>
    <span class="number">${shown}</span></div>`;
}

export const time = (at) => at
  ? html`<time datetime=${at} title=${at}>${clock(at)}</time>` : "–";

export function download(text, file) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = file;
  link.click();
  URL.revokeObjectURL(link.href);
}

// State with a sign, not by colour alone.
export const state = (good, text) => html`<span class=${good ? "good" : "bad"}>${
  good ? "● " : "○ "}${text}</span>`;

export const json = (value) => html`<pre tabindex="0">${
  JSON.stringify(value, null, 2).slice(0, 8192)}</pre>`;
