// question: a question to the user, with a button for each choice or a form.
import { html } from "./dom.js";
import { name, t } from "./i18n.js";
import { action, field, form } from "./ui.js";

const label = (o) => name(o.label || o.value);

function control(f) {
  const options = f.options?.map((o) => [o.value, label(o)]);
  const required = f.required === true;
  return f.kind === "single_choice" && options
    ? field(name(f.label || f.name), f.name, { options, required })
    : field(name(f.label || f.name), f.name, { required });
}

// answer(question, content) replies; content is text, of a form JSON.
export function question(q, answer) {
  const body = () => {
    if (q.kind === "single_choice" && q.options?.length)
      return html`<p class="actions">${q.options.map((o) =>
        action(label(o), () => answer(q, o.value)))}</p>`;
    if (q.kind === "multi_choice" && q.options?.length)
      return form(t("send"), html`${q.options.map((o) =>
        field(label(o), o.value, { kind: "checkbox" }))}`,
      (values) => answer(q, JSON.stringify(Object.keys(values))));
    if (q.kind === "form" && q.fields?.length)
      return form(t("send"), html`${q.fields.map(control)}`,
        (values) => answer(q, JSON.stringify(values)));
    return form(t("send"), field(t("reply"), "content", { required: true }),
      ({ content }) => answer(q, content));
  };
  return html`<div class="question"><p><strong>${t("question")}</strong> ${q.prompt}</p>
    ${q.tool && html`<pre tabindex="0">${name(q.tool.name)} ${JSON.stringify(q.tool.arguments, null, 1)}</pre>`}
    ${body()}</div>`;
}
