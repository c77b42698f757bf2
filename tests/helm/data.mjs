// data: write the data of a ConfigMap or Secret of rendered manifests to files.
//
// usage: node tests/helm/data.mjs <manifests> <kind> <name> <folder>
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const yaml = createRequire(`${process.cwd()}/build/helm/`)("js-yaml");
const [file, kind, name, folder] = process.argv.slice(2);
const o = yaml.loadAll(readFileSync(file, "utf8")).find((x) => x?.kind === kind && x.metadata.name === name);
if (!o) throw Error(`${file} has no ${kind} ${name}`);
mkdirSync(folder, { recursive: true });
for (const [key, value] of Object.entries(o.data))
  writeFileSync(`${folder}/${key}`, kind === "Secret" ? Buffer.from(value, "base64") : value);
