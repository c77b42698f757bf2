// cluster: a minimal Kubernetes API server for "lookup" in templates: serves the
// Secrets and Deployments of a file in the namespace default.  Prints its port and exits when
// standard input is closed.
//
// usage: node cluster.mjs FILE
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
const yaml = createRequire(new URL("../../build/helm/", import.meta.url))("js-yaml");

const objects = yaml.loadAll(readFileSync(process.argv[2], "utf8")).filter(Boolean);
const fixed = {
  "/version": { major: "1", minor: "33", gitVersion: "v1.33.0" },
  "/api": { kind: "APIVersions", versions: ["v1"] },
  "/apis": { kind: "APIGroupList", apiVersion: "v1", groups: [{ name: "apps",
    versions: [{ groupVersion: "apps/v1", version: "v1" }], preferredVersion: { groupVersion: "apps/v1", version: "v1" } }] },
  "/apis/apps/v1": { kind: "APIResourceList", groupVersion: "apps/v1", resources: [
    { name: "deployments", singularName: "deployment", namespaced: true, kind: "Deployment", verbs: ["get"] }] },
  "/api/v1": { kind: "APIResourceList", groupVersion: "v1", resources: [
    { name: "secrets", singularName: "secret", namespaced: true, kind: "Secret", verbs: ["get"] }] },
};

const server = createServer((req, res) => {
  const { pathname } = new URL(req.url, "http://localhost");
  const [, kind, name] = pathname.match(/^\/apis?\/.*v1\/namespaces\/default\/(secret|deployment)s\/([^/]+)$/) ?? [];
  const found = fixed[pathname] ?? objects.find((o) => o.kind.toLowerCase() === kind && o.metadata.name === name);
  res.writeHead(found ? 200 : 404, { "Content-Type": "application/json" });
  res.end(JSON.stringify(found ?? { kind: "Status", apiVersion: "v1", status: "Failure", reason: "NotFound", code: 404 }));
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.on("end", () => process.exit(0)).resume();
