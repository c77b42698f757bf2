// check: validate rendered manifests.
//
// usage: node tests/helm/check.mjs <file>...
//
// Each file is the output of helm template; <file>.outside may list existing
// Secrets and ConfigMaps.  Prints a line per fault and exits with 1 if there are
// any.  Every row of edges.txt must be used by one of the files.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { edgeFaults } from "./edges.mjs";
import { linkFaults, setFaults } from "./links.mjs";
import { podFaults } from "./pods.mjs";
import { schemaFaults } from "./schema.mjs";

const yaml = createRequire(`${process.cwd()}/build/helm/`)("js-yaml");

const table = readFileSync("tests/helm/edges.txt", "utf8").split("\n")
  .filter((line) => line && !line.startsWith("#"))
  .map((text) => ({ text, test: RegExp(`^${text.replace("*", "\\d+")}$`) }));
const used = new Set();
let bad = 0;

function report(where, faults) {
  for (const f of faults) {
    console.log(`${where}: ${f}`);
    bad++;
  }
}

for (const file of process.argv.slice(2)) {
  let all;
  try {
    all = yaml.loadAll(readFileSync(file, "utf8")).filter(Boolean);
  } catch (e) {
    report(file, [`invalid YAML: ${e.message.split("\n")[0]}`]);
    continue;
  }
  const outside = existsSync(`${file}.outside`)
    ? readFileSync(`${file}.outside`, "utf8").split(/\s+/) : [];
  if (all.length === 0) report(file, ["no manifests"]);
  for (const o of all) {
    const where = `${file}: ${o.kind} ${o.metadata?.name}`;
    report(where, await schemaFaults(o));
    report(where, podFaults(o));
    report(where, linkFaults(o, all, outside, yaml));
  }
  report(file, setFaults(all));
  report(file, edgeFaults(all, table, used));
}
if (process.argv.length > 3)
  report("tests/helm/edges.txt", table.filter((r) => !used.has(r.text)).map((r) => `${r.text}: unused`));
process.exit(bad ? 1 : 0);
