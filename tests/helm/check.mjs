// check: judge rendered manifests.
//
// usage: node tests/helm/check.mjs <file>...
//
// Each file is what helm template printed; beside it <file>.outside may name
// Secrets and ConfigMaps that exist already.  A line per fault; the exit code says if there
// was one.  Every row of edges.txt must be needed by one of the files.
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

function say(where, faults) {
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
    say(file, [`no YAML: ${e.message.split("\n")[0]}`]);
    continue;
  }
  const outside = existsSync(`${file}.outside`)
    ? readFileSync(`${file}.outside`, "utf8").split(/\s+/) : [];
  if (all.length === 0) say(file, ["there is nothing"]);
  for (const o of all) {
    const where = `${file}: ${o.kind} ${o.metadata?.name}`;
    say(where, await schemaFaults(o));
    say(where, podFaults(o));
    say(where, linkFaults(o, all, outside, yaml));
  }
  say(file, setFaults(all));
  say(file, edgeFaults(all, table, used));
}
if (process.argv.length > 3)
  say("tests/helm/edges.txt", table.filter((r) => !used.has(r.text)).map((r) => `${r.text}: nothing needs it`));
process.exit(bad ? 1 : 0);
