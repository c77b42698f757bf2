// edges: connections allowed by the network policies, as "from to port" lines.
import { hasPod, part, pod, selects } from "./pods.mjs";

const labels = (o) => pod(o).metadata.labels;

// The parts that a policy peer selects; "outside" if it is not in the release.
function parts(peer, all) {
  const selector = peer.podSelector?.matchLabels;
  if (!selector || peer.namespaceSelector) return ["outside"];
  const hit = all.filter((o) => hasPod(o) && selects(selector, labels(o))).map((o) => part(labels(o)));
  // A selector of another release.
  if (hit.length === 0 && all.every((o) => selector["app.kubernetes.io/instance"] !== o.metadata.labels?.["app.kubernetes.io/instance"])) return ["outside"];
  return hit.length > 0 ? hit : [`no-pod:${JSON.stringify(selector)}`];
}

function peersOf(rule, key, all) {
  return rule[key]?.length ? rule[key].flatMap((p) => parts(p, all)) : ["outside"];
}

// All edges allowed by egress (out) and ingress (into) rules; DNS is "dns".
export function edges(all) {
  const out = new Set(), into = new Set();
  for (const p of all.filter((o) => o.kind === "NetworkPolicy")) {
    const me = part(p.spec.podSelector.matchLabels);
    if (!me) continue;
    for (const rule of p.spec.egress ?? [])
      for (const to of peersOf(rule, "to", all))
        for (const { port } of rule.ports) out.add(port === 53 ? `${me} dns` : `${me} ${to} ${port}`);
    for (const rule of p.spec.ingress ?? [])
      for (const from of peersOf(rule, "from", all))
        for (const { port } of rule.ports) into.add(`${from} ${me} ${port}`);
  }
  return { out, into };
}

// Returns the faults; adds the matching rows of the table to used.
export function edgeFaults(all, table, used) {
  const { out, into } = edges(all);
  const faults = [];
  const known = (edge) => {
    const row = table.find((r) => r.test.test(edge));
    if (row) used.add(row.text);
    return row !== undefined;
  };
  for (const e of new Set([...out, ...into]))
    if (!e.endsWith(" dns") && !known(e)) faults.push(`${e}: not in edges.txt`);
  for (const e of out)
    if (!/ outside | dns$/.test(e) && !into.has(e)) faults.push(`${e}: allowed by egress only`);
  for (const e of into)
    if (!e.startsWith("outside ") && !out.has(e)) faults.push(`${e}: allowed by ingress only`);
  const policies = all.filter((o) => o.kind === "NetworkPolicy");
  if (policies.length === 0) return ["no network policy"];
  for (const o of all.filter(hasPod)) {
    const mine = policies.filter((p) => selects(p.spec.podSelector.matchLabels, labels(o)));
    if (!mine.some((p) => !part(p.spec.podSelector.matchLabels) && !p.spec.ingress && !p.spec.egress &&
        p.spec.policyTypes.length === 2))
      faults.push(`${part(labels(o))}: no default deny policy`);
  }
  return faults;
}
