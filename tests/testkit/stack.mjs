// stack: deploy/stack in the background, at ports that are free.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";

function run(command, env) {
  const r = spawnSync("deploy/stack", [command], { env, encoding: "utf8" });
  return { failed: r.status === 0 ? "" : r.stdout + r.stderr, out: r.stdout };
}

// Starts it with the variables env, sets env.PORT_SHIFT, and returns what
// "deploy/stack env" prints, by name.
export function startStack(env) {
  for (let failed, i = 0; i < 8; i++) {
    env.PORT_SHIFT = String(10000 + Math.floor(Math.random() * 40000));
    failed = run("up", env).failed;
    if (failed === "")
      break;
    assert(/in use/.test(failed) && i < 7, failed);
  }
  return Object.fromEntries(run("env", env).out.trim().split("\n").map((line) =>
    [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
}

// Returns why it was not stopped; "": it was.
export const stopStack = (env) => run("down", env).failed;
