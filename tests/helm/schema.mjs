// schema: is a manifest one that Kubernetes would take?  Types and required
// fields by the validators of kubernetes-models; unknown fields by
// watching which ones the validator never looked at.
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";

const folder = "build/helm/node_modules/kubernetes-models/_schemas";

// Gone from current Kubernetes, so not among the schemas; and kinds of others.
const unknown = ["policy/v1beta1", "autoscaling/v2beta2", "monitoring.coreos.com/v1"];

const title = (s) => s[0].toUpperCase() + s.slice(1);

function path(object) {
  const [group, version] = object.apiVersion.includes("/")
    ? object.apiVersion.split("/")
    : ["core", object.apiVersion];
  const short = group.replace(/\.k8s\.io$/, "");
  return `${folder}/IoK8sApi${title(short)}${title(version)}${object.kind}.js`;
}

// A view of value that notes what is read of it in seen: path -> names, or
// true where all names were listed, as is done for maps.
function watched(value, at, seen) {
  if (value === null || typeof value !== "object") return value;
  return new Proxy(value, {
    get(target, name) {
      if (typeof name === "string" && seen.get(at) !== true)
        seen.set(at, (seen.get(at) ?? new Set()).add(name));
      const child = target[name];
      return typeof name === "string" && Object.hasOwn(target, name)
        ? watched(child, `${at}/${name}`, seen)
        : child;
    },
    ownKeys(target) {
      seen.set(at, true);
      return Reflect.ownKeys(target);
    },
  });
}

function overlooked(value, at, seen) {
  if (value === null || typeof value !== "object") return [];
  const names = seen.get(at);
  if (names === undefined) return [];
  return Object.keys(value).flatMap((name) =>
    names !== true && !Array.isArray(value) && !names.has(name)
      ? [`${at}/${name}: no such field`]
      : overlooked(value[name], `${at}/${name}`, seen));
}

// What is wrong with object, as texts.
export async function schemaFaults(object) {
  if (unknown.includes(object.apiVersion)) return [];
  const file = path(object);
  if (!existsSync(file)) return [`no schema for ${object.apiVersion} ${object.kind}`];
  const { validate } = await import(pathToFileURL(file));
  const seen = new Map();
  validate(watched(object, "", seen));
  const faults = (validate.errors ?? []).map((e) => `${e.instancePath}: ${e.keyword} ${JSON.stringify(e.params)}`);
  return [...faults, ...overlooked(object, "", seen)];
}
