// dom: signals, and nodes made from template literals.
//
//   signal(value)   s.value reads and subscribes, s.value = v notifies, s.peek()
//   effect(fn)      runs fn, and again when a signal changes that it has read
//   html`<a href=${x} @click=${fn} .value=${v} ?disabled=${() => s.value}>`
//                   a fragment; a function as a value is an effect of its place
//   each(list, key, render)  nodes of a list, by key, for a place in html
//   scope(fn)       [what fn returned, a function that ends the effects it began]
//
// Values become text nodes and attributes, never markup: only the literals of the
// source reach the only policy of Trusted Types.

let running = null; // the effect that runs
let owned = null; // what ends the effects of the scope
const pending = new Set();

export function signal(value) {
  const readers = new Set();
  return {
    get value() {
      if (running) {
        readers.add(running);
        running.sources.add(readers);
      }
      return value;
    },
    set value(next) {
      if (Object.is(next, value))
        return;
      value = next;
      for (const reader of readers)
        schedule(reader);
    },
    peek: () => value,
  };
}

function schedule(reader) {
  if (pending.size === 0)
    queueMicrotask(flush);
  pending.add(reader);
}

function flush() {
  for (const reader of pending) {
    pending.delete(reader);
    reader.run();
  }
}

export function effect(fn) {
  const self = { sources: new Set(), inner: null, ended: false, run };
  function clear() {
    for (const readers of self.sources)
      readers.delete(self);
    self.sources.clear();
    self.inner?.();
    self.inner = null;
  }
  function run() {
    if (self.ended)
      return;
    clear();
    const before = [running, owned];
    running = self;
    const mine = [];
    owned = mine;
    try {
      fn();
    } finally {
      [running, owned] = before;
      self.inner = () => mine.forEach((end) => end());
    }
  }
  function end() {
    self.ended = true;
    clear();
    pending.delete(self);
  }
  owned?.push(end);
  run();
  return end;
}

export function scope(fn) {
  const before = [running, owned];
  const mine = [];
  [running, owned] = [null, mine];
  try {
    return [fn(), () => mine.forEach((end) => end())];
  } finally {
    [running, owned] = before;
  }
}

// Called when the scope ends.
export function onEnd(fn) {
  owned?.push(fn);
}

export function untracked(fn) {
  const before = running;
  running = null;
  try {
    return fn();
  } finally {
    running = before;
  }
}

const policy = globalThis.trustedTypes?.createPolicy("soul",
  { createHTML: (markup) => markup }) ?? { createHTML: (markup) => markup };
const compiled = new WeakMap();
const MARK = "x-slot-";

function compile(strings) {
  let template = compiled.get(strings);
  if (template)
    return template;
  let markup = "";
  strings.forEach((part, i) => {
    markup += part;
    if (i === strings.length - 1)
      return;
    // The parser would check the value of an attribute, and change its name.
    const attribute = markup.match(/([^\s"=]+)=$/);
    markup = attribute ? `${markup.slice(0, attribute.index)}${MARK}${i}="${attribute[1]}"`
      : `${markup}<!--${MARK}${i}-->`;
  });
  template = document.createElement("template");
  template.innerHTML = policy.createHTML(markup);
  compiled.set(strings, template);
  return template;
}

export function html(strings, ...values) {
  const root = document.importNode(compile(strings).content, true);
  const walker = document.createTreeWalker(root, 1 | 128);
  const slots = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.nodeType === 8 && node.data.startsWith(MARK))
      slots.push([node, null, values[node.data.slice(MARK.length)]]);
    else if (node.nodeType === 1)
      for (const { name, value } of [...node.attributes])
        if (name.startsWith(MARK)) {
          node.removeAttribute(name);
          slots.push([node, value, values[name.slice(MARK.length)]]);
        }
  }
  for (const [node, name, value] of slots)
    name === null ? place(node, value) : bind(node, name, value);
  return root;
}

function bind(node, name, value) {
  if (name[0] === "@") {
    node.addEventListener(name.slice(1), value);
  } else if (name === "ref") {
    value(node);
  } else if (typeof value === "function") {
    effect(() => set(node, name, value()));
  } else {
    set(node, name, value);
  }
}

function set(node, name, value) {
  if (name[0] === ".") {
    const property = name.slice(1);
    if (node[property] !== value)
      node[property] = value;
  } else if (name[0] === "?") {
    node.toggleAttribute(name.slice(1), Boolean(value));
  } else if (value === null || value === undefined || value === false) {
    node.removeAttribute(name);
  } else {
    node.setAttribute(name, value);
  }
}

// The nodes of a value, before its mark.
function place(mark, value) {
  if (value?.mount) {
    value.mount(mark);
    return;
  }
  if (typeof value !== "function") {
    mark.before(...nodes(value));
    return;
  }
  let shown = [];
  effect(() => {
    const next = nodes(value());
    shown.forEach((node) => node.remove());
    shown = next;
    mark.before(...shown);
  });
}

function nodes(value) {
  if (value === null || value === undefined || value === false)
    return [];
  if (Array.isArray(value))
    return value.flatMap(nodes);
  if (value instanceof DocumentFragment)
    return [...value.childNodes];
  if (value instanceof Node)
    return [value];
  return [document.createTextNode(value)];
}

// list: a function that returns an array; key(item); render(item) is called when
// the item of a key is not the one that is shown.
export function each(list, key, render) {
  return { mount(mark) {
    let rows = new Map();
    effect(() => {
      const next = new Map();
      for (const item of list()) {
        const id = key(item);
        const old = rows.get(id);
        if (old && old.item === item) {
          next.set(id, old);
          rows.delete(id);
          continue;
        }
        const [made, end] = scope(() => nodes(render(item)));
        next.set(id, { item, nodes: made, end });
      }
      for (const row of rows.values()) {
        row.end();
        row.nodes.forEach((node) => node.remove());
      }
      rows = next;
      let at = mark;
      for (const row of [...rows.values()].reverse())
        for (const node of [...row.nodes].reverse()) {
          if (node.nextSibling !== at)
            at.before(node);
          at = node;
        }
    });
    onEnd(() => rows.forEach((row) => row.end()));
  } };
}
