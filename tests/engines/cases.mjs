#!/usr/bin/env node
// cases: what a real engine prints, and the conversation that it becomes.
//
// usage: cases.mjs codex|gemini|opencode [part of a name]
import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { KEY, processesOf, startProxy, until } from "./engine.mjs";
import { Session } from "./session.mjs";

const [, , ENGINE, FILTER = process.env.TEST_FILTER ?? ""] = process.argv;
const DELTA = ENGINE === "gemini" ? ["delta"] : [];

const cases = {
  async a_hello_waits_for_the_user(s) {
    s.start("SIM:hello");
    await s.end();
    s.expect("started", ...DELTA, "final", "asks free_text");
    assert.equal(s.finals()[0].text, "Hello, this is the simulated model. 你好！");
    assert(s.handle, "a session");
    assert(s.fcmp.slice(1).some((e) => e.session_id === s.handle));
  },

  async the_marker_completes(s) {
    s.start("SIM:done");
    await s.end();
    s.expect("started", ...DELTA, "final", "completed DONE_MARKER_FOUND");
    assert.equal(s.finals()[0].text.trim(), "All is done.");
  },

  async a_question_is_answered_in_the_same_session(s) {
    s.start("SIM:question");
    await s.end();
    s.expect("started", ...DELTA, "final", "asks single_choice");
    assert.equal(s.fcmp.at(-1).data.prompt, "Which colour?");
    assert.deepEqual(s.fcmp.at(-1).data.options.map((o) => o.value ?? o), ["red", "blue"]);
    const first = s.handle;
    s.reply("red. SIM:done");
    await s.end();
    s.expect("replied", ...DELTA, "final", "completed DONE_MARKER_FOUND");
    assert.equal(s.handle, first);
    assert.equal(s.proxy.sim.requests.at(-1).scenario, "done");
  },

  async a_prompt_is_no_option(s) {
    s.start("--help SIM:done");
    await s.end();
    s.expect("started", ...DELTA, "final", "completed DONE_MARKER_FOUND");
  },

  async a_tool_runs(s) {
    s.start("SIM:tool");
    await s.end();
    s.expect("started", ...DELTA, "final", "completed DONE_MARKER_FOUND");
    assert.equal(s.file("made.txt"), "tool-output-1\n");
    const types = s.rasp.map((e) => e.event.type);
    assert(types.includes("tool.call.completed"), types.join(" "));
  },

  async a_marker_in_the_output_of_a_tool_does_not_count(s) {
    s.start("SIM:tool_marker");
    await s.end();
    s.expect("started", ...DELTA, "final", "asks free_text");
  },

  async a_tool_that_fails_is_no_failure_of_the_run(s) {
    s.start("SIM:tool_fails");
    await s.end();
    s.expect("started", ...DELTA, "final", "completed DONE_MARKER_FOUND");
    const tool = s.rasp.find((e) => /^tool.call.(completed|failed)$/.test(e.event.type));
    assert.match(JSON.stringify(tool.data), /to-stderr/);
  },

  async a_long_answer_is_whole(s) {
    s.start("SIM:long");
    await s.end();
    s.expect("started", ...DELTA, "final", "completed DONE_MARKER_FOUND");
    assert.equal(s.finals()[0].text.trim().split("\n").length, 2000);
  },

  async a_wrong_key_is_a_matter_of_the_operator(s) {
    s.start("SIM:unauthorized");
    await s.end();
    s.expect("started", "failed engine/AUTH_REQUIRED");
    s.expectMessage(/Incorrect API key provided/);
  },

  async a_missing_key_is_one_too(s) {
    if (s.keyless() === undefined)
      return;
    s.start("SIM:done", { env: s.keyless() });
    await s.end();
    s.expect("started", "failed engine/AUTH_REQUIRED");
  },

  async a_rate_limit(s) {
    s.start("SIM:rate_limit");
    await s.end();
    s.expect("started", "failed engine/RESOURCE_EXHAUSTED");
    s.expectMessage(/Rate limit|429/);
  },

  async an_error_of_the_provider(s) {
    s.start("SIM:error");
    await s.end();
    s.expect("started", "failed engine/PROVIDER_ERROR");
  },

  async a_stream_that_breaks_off(s) {
    s.start("SIM:cut");
    await s.end();
    const [first, ...rest] = s.fcmp.map((e) => e.type);
    assert.equal(first, "conversation.started");
    assert(!rest.includes("conversation.completed"));
    assert.equal(s.fcmp.at(-1).type, "conversation.failed", s.shown());
    assert.equal(s.fcmp.at(-1).data.error.code, "NETWORK", s.shown());
  },

  async a_spent_budget(s) {
    const t = new Session(s.proxy, ENGINE, { budget: 0 });
    t.start("SIM:done");
    await t.end();
    t.expect("started", "failed runtime/BUDGET_EXCEEDED");
    assert.equal(s.proxy.sim.requests.length, 0);
  },

  async a_session_that_does_not_exist(s) {
    s.start("SIM:done", { handle: s.unknown() });
    await s.end();
    s.expect("started", "failed engine/SESSION_NOT_FOUND");
  },

  async cancel_before_the_answer(s) {
    s.start("SIM:hold");
    await s.called("hold");
    await s.stop();
    await s.end();
    s.expect("started", "failed runtime/CANCELED");
    if (s.handle === undefined)
      return;
    s.resume("SIM:done");
    await s.end();
    s.expect("started", ...DELTA, "final", "completed DONE_MARKER_FOUND");
  },

  async cancel_in_the_middle_of_the_answer(s) {
    s.start("SIM:stall");
    await s.called("stall");
    if (s.streams())
      await s.printed("a delta", (text) => text.includes('"delta":true'));
    await s.stop();
    await s.end();
    assert.equal(s.fcmp.at(-1).data.error?.code, "CANCELED", s.shown());
    assert.deepEqual(s.left, []);
  },

  async cancel_while_a_tool_runs(s) {
    s.start("SIM:tool_sleeps");
    await s.called("tool_sleeps");
    await until("the tool", () => processesOf(s.run, "sleep 300").length > 0, 150000);
    await s.stop();
    await s.end();
    assert.equal(s.fcmp.at(-1).data.error?.code, "CANCELED", s.shown());
    assert.deepEqual(s.left, []);
  },
};

// ---- the runner ----

function report(line) {
  console.log(line);
  if (process.env.CK_TAP_LOG_FILE_NAME)
    appendFileSync(process.env.CK_TAP_LOG_FILE_NAME, `${line}\n`);
}

const proxy = await startProxy();
let bad = 0;
for (const [i, [name, run]] of Object.entries(cases).filter(([n]) => n.includes(FILTER)).entries()) {
  const session = new Session(proxy, ENGINE);
  try {
    await run(session);
    report(`ok ${i + 1} - ${name}`);
  } catch (error) {
    bad++;
    report(`not ok ${i + 1} - ${name}`);
    console.log(error.message ?? error);
  }
  for (const pid of processesOf(session.run))
    process.kill(pid, "SIGKILL");
}
const metrics = await (await fetch(`http://127.0.0.1:${proxy.admin}/metrics`)).text();
if (metrics.includes(KEY) || await proxy.stop() !== 0)
  bad++;
process.exit(bad > 0 ? 1 : 0);
