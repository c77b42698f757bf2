// pods: rules for every pod of the chart, with any values.
import { readFileSync } from "node:fs";

const volumes = ["configMap", "emptyDir", "secret", "projected", "persistentVolumeClaim"];

export const pod = (o) =>
  o.kind === "Pod" ? { metadata: o.metadata, spec: o.spec } : o.spec.template;
export const hasPod = (o) => ["Deployment", "StatefulSet", "Job", "Pod"].includes(o.kind);
export const part = (labels) => labels?.["app.kubernetes.io/component"];
export const selects = (selector, labels) =>
  Object.entries(selector).every(([k, v]) => labels?.[k] === v);

function* restricted(o) {
  const { spec } = pod(o);
  const s = spec.securityContext ?? {};
  if (s.runAsNonRoot !== true) yield "runAsNonRoot is not true";
  if (!Number.isInteger(s.runAsUser) || s.runAsUser === 0) yield "runAsUser is not a positive number";
  if (s.seccompProfile?.type !== "RuntimeDefault") yield "seccompProfile is not RuntimeDefault";
  if (spec.automountServiceAccountToken !== false) yield "gets a service account's token";
  for (const name of ["hostNetwork", "hostPID", "hostIPC"]) if (spec[name]) yield `uses ${name}`;
  for (const v of spec.volumes ?? [])
    for (const kind of Object.keys(v))
      if (kind !== "name" && !volumes.includes(kind)) yield `volume ${v.name} is a ${kind}`;
  for (const c of [...(spec.initContainers ?? []), ...spec.containers]) {
    const cs = c.securityContext ?? {};
    if (cs.allowPrivilegeEscalation !== false) yield `${c.name}: may escalate privileges`;
    if (cs.readOnlyRootFilesystem !== true) yield `${c.name}: may write its root`;
    if (!cs.capabilities?.drop?.includes("ALL")) yield `${c.name}: keeps capabilities`;
    if (cs.capabilities?.add || cs.privileged) yield `${c.name}: wants privileges`;
  }
}

function* run(o) {
  const { spec } = pod(o);
  const mounts = new Set((spec.volumes ?? []).map((v) => v.name)
    .concat((o.spec.volumeClaimTemplates ?? []).map((v) => v.metadata.name)));
  const first = spec.initContainers ?? [];
  for (const c of [...first, ...spec.containers]) {
    for (const m of c.volumeMounts ?? []) if (!mounts.has(m.name)) yield `${c.name}: no volume ${m.name}`;
    for (const [kind, names] of [["requests", ["cpu", "memory"]], ["limits", ["memory"]]])
      for (const name of names)
        if (!c.resources?.[kind]?.[name]) yield `${c.name}: no ${kind}.${name}`;
    if (!/^[^\s:]+(:\d+\/[^\s:@]+)?(:[\w.-]+|@sha256:[0-9a-f]{64})$/.test(c.image) || /:latest$/.test(c.image))
      yield `${c.name}: image ${c.image} is not pinned`;
    // Server-side apply of old clusters cannot tell ports without it apart.
    for (const p of c.ports ?? []) if (!p.protocol) yield `${c.name}: port ${p.name} has no protocol`;
    // A process without a port has no probes: only its exit is visible.
    if (o.kind === "Pod" || first.includes(c) || !c.ports) continue;
    for (const name of ["startupProbe", "livenessProbe", "readinessProbe"])
      if (!c[name]) yield `${c.name}: no ${name}`;
    for (const name of ["startupProbe", "livenessProbe"])
      if (c[name]?.httpGet?.path?.startsWith("/readyz"))
        yield `${c.name}: ${name} depends on others`;
    for (const p of ["startupProbe", "livenessProbe", "readinessProbe"]) {
      const port = c[p]?.httpGet?.port ?? c[p]?.tcpSocket?.port;
      if (port && !c.ports.some((x) => x.name === port)) yield `${c.name}: ${p} of no port`;
    }
  }
}

// An emptyDir that is read must also be written.
function* filled(o) {
  const { spec } = pod(o);
  for (const v of (spec.volumes ?? []).filter((x) => x.emptyDir)) {
    const of = (c) => (c.volumeMounts ?? []).find((m) => m.name === v.name);
    const writes = (cs) => (cs ?? []).some((c) => of(c) && !of(c).readOnly);
    if (spec.containers.some(of) && !writes(spec.containers) && !writes(spec.initContainers))
      yield `no container writes what is read of ${v.name}`;
  }
}

// The variables of a service, from the table in its README.
function settings(service) {
  const text = readFileSync(`services/${service}/README.md`, "utf8");
  const table = text.split("<!-- config -->")[1].split("<!-- /config -->")[0];
  return new Set([...table.matchAll(/^\| `([A-Z0-9_]+)` \|/gm)].map((m) => m[1]));
}

// The documented maximum duration of a turn.
function turnSeconds() {
  const all = JSON.parse(readFileSync("proto-schemas/interfaces.json", "utf8"));
  let found = 0;
  JSON.stringify(all, (key, value) => {
    if (value?.subject === "soul.rpc.turn.start") found = value.deadline_ms / 1000;
    return value;
  });
  if (!found) throw Error("interfaces.json has no deadline of soul.rpc.turn.start");
  return found;
}

function* service(o) {
  const name = part(pod(o).metadata.labels);
  const { spec } = pod(o);
  const [c] = spec.containers;
  const known = settings(name);
  const env = Object.fromEntries((c.env ?? []).map((e) => [e.name, e.value]));
  if (Object.keys(env).length !== c.env.length) yield "a variable is set twice";
  for (const v of Object.keys(env))
    if (!v.startsWith("EXTRA_") && !known.has(v) && !known.has(v.replace(/_FILE$/, ""))) yield `${v} is not a setting of ${name}`;
  for (const v of Object.keys(env))
    if (/PASSWORD$|API_KEY$/.test(v) || /:\/\/[^/]*@/.test(env[v])) yield `${v} has a secret in it`;
  if (c.ports.some((p) => p.name === "http") && !("AUTH_TOKENS" in env || "AUTH_JWKS" in env) && !/-sim$/.test(name))
    yield "has authentication disabled";
  const linger = Number(c.lifecycle?.preStop?.exec?.command?.[1] ?? 0);
  const drain = Number(env.DRAIN_TIMEOUT_MS) / 1000;
  if (!(spec.terminationGracePeriodSeconds >= linger + drain + 5)) yield "is killed before it has drained";
  if (["chat-gateway", "llm-orchestrator"].includes(name) && drain < turnSeconds())
    yield `a turn may take ${turnSeconds()} s, a drain ${drain} s`;
  if (c.ports.some((p) => p.name === "http") && linger === 0 && !["llm-sim", "body-sim"].includes(name))
    yield "exits while a Service still sends it requests";
  if (o.kind === "StatefulSet") return;
  const u = o.spec.strategy?.rollingUpdate;
  if (u?.maxUnavailable !== 0 || !(u?.maxSurge > 0)) yield "an upgrade reduces the number of pods";
}

// Faults of the pods of one object, as messages.
export function podFaults(o) {
  if (!hasPod(o)) return [];
  const isService = o.kind === "Deployment" || part(pod(o).metadata.labels) === "engine-runner";
  return [...restricted(o), ...run(o), ...filled(o), ...(isService ? service(o) : [])];
}
