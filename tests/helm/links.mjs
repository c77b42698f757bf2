// links: check that references between objects resolve.
import { existsSync, readFileSync } from "node:fs";
import { hasPod, part, pod, selects } from "./pods.mjs";

const labels = (o) => pod(o).metadata.labels;

function* selectors(o, all) {
  const pods = all.filter(hasPod);
  const selector = o.kind === "Service" ? o.spec.selector
    : o.kind === "PodDisruptionBudget" ? o.spec.selector?.matchLabels
    : o.kind === "NetworkPolicy" ? o.spec.podSelector.matchLabels : null;
  if (!selector) return;
  const hit = pods.filter((p) => selects(selector, labels(p)));
  if (hit.length === 0) yield "selects no pod";
  if (o.kind !== "NetworkPolicy" && hit.length > 1) yield `selects ${hit.length} kinds of pods`;
  if (o.kind === "Service" && o.spec.ports.some((p) => !p.protocol)) yield "a port has no protocol";
  if (o.kind === "Service")
    for (const { targetPort } of o.spec.ports)
      for (const p of hit)
        if (!pod(p).spec.containers.some((c) => c.ports?.some((x) => x.name === targetPort)))
          yield `no container has a port ${targetPort}`;
}

function* named(o, all, outside) {
  const have = (kind, name) => all.find((x) => x.kind === kind && x.metadata.name === name);
  const secret = (name, keys) => {
    if (outside.includes(name)) return [];
    const s = have("Secret", name);
    return s ? keys.filter((k) => !(k in s.data)).map((k) => `Secret ${name} has no ${k}`) : [`missing Secret ${name}`];
  };
  if (hasPod(o)) {
    const { spec } = pod(o);
    if (!have("ServiceAccount", spec.serviceAccountName)) yield `missing ServiceAccount ${spec.serviceAccountName}`;
    for (const v of spec.volumes ?? []) {
      if (v.configMap && !outside.includes(v.configMap.name) && !have("ConfigMap", v.configMap.name)) yield `missing ConfigMap ${v.configMap.name}`;
      for (const { configMap } of v.projected?.sources ?? [])
        if (configMap && !have("ConfigMap", configMap.name)) yield `missing ConfigMap ${configMap.name}`;
      const read = [v.secret && { name: v.secret.secretName, items: v.secret.items },
        ...(v.projected?.sources ?? []).map((x) => x.secret)].filter(Boolean);
      for (const s of read.filter((x) => !x.optional))
        yield* secret(s.name, (s.items ?? []).map((i) => i.key));
      // Optional sources are alternatives: one of them must exist.
      const missing = read.filter((x) => x.optional).map((s) => secret(s.name, s.items.map((i) => i.key)));
      if (missing.length > 0 && missing.every((m) => m.length > 0)) yield* missing[0];
    }
    for (const c of spec.containers) {
      for (const e of c.env ?? [])
        if (e.valueFrom?.secretKeyRef) yield* secret(e.valueFrom.secretKeyRef.name, [e.valueFrom.secretKeyRef.key]);
      for (const e of c.envFrom ?? []) if (e.secretRef) yield* secret(e.secretRef.name, []);
    }
  }
  if (o.kind === "HorizontalPodAutoscaler") {
    const t = have("Deployment", o.spec.scaleTargetRef.name);
    if (!t) yield "its target is missing";
    else if ("replicas" in t.spec) yield "the Deployment sets replicas, too";
  }
  if (o.kind === "Deployment" && !("replicas" in o.spec) &&
      !all.some((x) => x.kind === "HorizontalPodAutoscaler" && x.spec.scaleTargetRef.name === o.metadata.name))
    yield "nothing sets replicas";
  if (o.kind === "Ingress")
    for (const r of o.spec.rules)
      for (const p of r.http.paths) {
        const s = have("Service", p.backend.service.name);
        if (!s?.spec.ports.some((x) => x.name === p.backend.service.port.name)) yield "missing Service";
      }
  if (o.kind === "StatefulSet" && !have("Service", o.spec.serviceName)) yield "has no Service";
}

// The ServiceMonitor selects every service.
function* watched(o, all) {
  if (o.kind !== "ServiceMonitor") return;
  const hit = all.filter((x) => x.kind === "Service" && selects(o.spec.selector.matchLabels, x.metadata.labels));
  for (const d of all.filter((x) => x.kind === "Deployment" || x.metadata.name.endsWith("-engine-runner") && x.kind === "StatefulSet"))
    if (!hit.some((x) => selects(x.spec.selector, labels(d)))) yield `does not select ${d.metadata.name}`;
  for (const { port } of o.spec.endpoints)
    for (const x of hit)
      if (!x.spec.ports.some((p) => p.name === port)) yield `${x.metadata.name} has no port ${port}`;
  if (!hit.every((x) => x.metadata.labels[o.spec.jobLabel])) yield "a job has no name";
}

// Settings, alerts and dashboard are identical to those in deploy/.
function* shipped(o, yaml) {
  if (o.kind === "PrometheusRule" &&
      JSON.stringify(sorted(o.spec)) !== JSON.stringify(sorted(yaml.load(readFileSync("deploy/alerts.yaml", "utf8")))))
    yield "is not deploy/alerts.yaml";
  if (o.kind !== "ConfigMap") return;
  if (o.data["soul.json"] && o.data["soul.json"] !== readFileSync("deploy/grafana-soul.json", "utf8"))
    yield "is not deploy/grafana-soul.json";
  // ACLs of the broker have the topic prefix.
  const prefix = /^pattern write (.*terminal)\/%u\/online$/m.exec(o.data["mosquitto.acl"])?.[1];
  for (const name of Object.keys(o.data).filter((x) => existsSync(`deploy/${x}`)))
    if (!o.data[name].startsWith(readFileSync(`deploy/${name}`, "utf8").replaceAll("soul/terminal", prefix ?? "soul/terminal")))
      yield `${name} is not deploy/${name}`;
  if (o.data["soul.conf"] && !o.data["soul.conf"].includes(readFileSync("deploy/nats-permissions.conf", "utf8")))
    yield "soul.conf is not of deploy/nats-permissions.conf";
}

// The broker's plugin is mounted into its pod.
function* loaded(o, all) {
  if (o.kind !== "ConfigMap" || !o.data["mosquitto-start"]) return;
  const broker = all.filter((x) => x.kind === "StatefulSet").flatMap((x) => pod(x).spec.containers)
    .find((c) => c.command?.some((x) => x.endsWith("/mosquitto-start")));
  for (const text of Object.values(o.data))
    for (const [, file] of text.matchAll(/^plugin (\S+)$/gm))
      if (!broker?.volumeMounts.some((m) => file.startsWith(`${m.mountPath}/`)))
        yield `the broker has no ${file}`;
}

const sorted = (v) => Array.isArray(v) ? v.map(sorted)
  : v !== null && typeof v === "object" ? Object.fromEntries(Object.keys(v).sort().map((k) => [k, sorted(v[k])])) : v;

// Faults in the references of o; outside: names of existing Secrets and
// ConfigMaps.
export function linkFaults(o, all, outside, yaml) {
  return [...selectors(o, all), ...named(o, all, outside), ...watched(o, all), ...shipped(o, yaml), ...loaded(o, all)];
}

// Faults of the set as a whole.
export function setFaults(all) {
  const seen = new Set();
  return all.flatMap((o) => {
    const id = `${o.apiVersion} ${o.kind} ${o.metadata.name}`;
    const twice = seen.has(id);
    seen.add(id);
    return [
      ...(twice ? [`${id}: duplicate`] : []),
      ...(o.metadata.name.length > 63 ? [`${id}: the name is too long`] : []),
      ...(part(o.metadata.labels) ? [] : [`${id}: has no labels`]),
    ];
  });
}
