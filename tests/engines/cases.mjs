#!/usr/bin/env node
// cases: what a real engine does for an owner of runs, through the service.
//
// usage: cases.mjs codex|gemini|opencode [part of a name]
import assert from "node:assert/strict";
import { appendFileSync, writeFileSync } from "node:fs";
import { KEY, Service, processesOf } from "./service.mjs";
import { Session } from "./session.mjs";

const [, , ENGINE, FILTER = process.env.TEST_FILTER ?? ""] = process.argv;
const AT_A_TIME = 4;
const DELTA = ENGINE === "gemini" ? ["delta"] : [];
const DONE = ["started", ...DELTA, "final", "completed DONE_MARKER_FOUND"];

const cases = {
  async a_hello_waits_for_the_user(s) {
    await s.start("SIM:hello");
    await s.end();
    await s.expect("started", ...DELTA, "final", "asks free_text");
    assert.equal(s.finals()[0].text, "Hello, this is the simulated model. 你好！");
    assert(s.rec.session_id, "a session");
    assert(s.fcmp.slice(1).some((e) => e.session_id === s.rec.session_id));
    assert.equal(s.fcmp[0].data.title, `SIM:hello CASE:${s.tag}`);
  },

  async cancel_while_it_waits(s) {
    await s.start("SIM:hello");
    await s.end();
    s.nextEvents();
    assert(await s.cancel());
    await s.end();
    await s.expect("failed runtime/CANCELED");
    assert(!await s.cancel());
  },

  async the_marker_completes(s) {
    await s.start("SIM:done");
    await s.end();
    await s.expect(...DONE);
    assert.equal(s.finals()[0].text.trim(), "All is done.");
    s.usage(1);
    const { isolation } = s.rec.facts;
    for (const rule of ["files", "tcp", "udp", "signals", "privileges"])
      assert(isolation.includes(rule), `not enforced: ${rule}`);
  },

  async a_question_is_answered_in_the_same_session(s) {
    await s.start("SIM:question");
    await s.end();
    await s.expect("started", ...DELTA, "final", "asks single_choice");
    assert.equal(s.fcmp.at(-1).data.prompt, "Which colour?");
    assert.deepEqual(s.rec.interaction.options.map((o) => o.value),
      ["red SIM:done", "blue SIM:done"]);
    const first = s.rec.session_id;
    await s.reply("red SIM:done");
    await s.end();
    await s.expect("replied", ...DELTA, "final", "completed DONE_MARKER_FOUND");
    assert.equal(s.rec.session_id, first);
    assert.equal(s.rec.attempt, 2);
    s.usage(2);
  },

  async a_run_that_has_ended_is_continued(s) {
    await s.start("SIM:done");
    await s.end();
    const { session_id } = s.rec;
    await s.resume("SIM:tool");
    await s.end();
    await s.expect(...DONE);
    assert.equal(s.rec.session_id, session_id);
    assert.equal(await s.file("made.txt"), "tool-output-1\n");
  },

  async a_prompt_is_no_option(s) {
    await s.start("--help SIM:done");
    await s.end();
    await s.expect(...DONE);
  },

  async a_tool_runs(s) {
    await s.start("SIM:tool");
    await s.end();
    await s.expect(...DONE);
    assert.equal(await s.file("made.txt"), "tool-output-1\n");
    const types = s.rasp.map((e) => e.event.type);
    assert(types.includes("tool.call.completed"), types.join(" "));
    s.usage(2);
  },

  async a_marker_in_the_output_of_a_tool_does_not_count(s) {
    await s.start("SIM:tool_marker");
    await s.end();
    await s.expect("started", ...DELTA, "final", "asks free_text");
  },

  async a_tool_that_fails_is_no_failure_of_the_run(s) {
    await s.start("SIM:tool_fails");
    await s.end();
    await s.expect(...DONE);
    const tool = s.rasp.find((e) => /^tool.call.(completed|failed)$/.test(e.event.type));
    assert.match(JSON.stringify(tool.data), /to-stderr/);
  },

  async a_long_answer_is_whole(s) {
    await s.start("SIM:long");
    await s.end();
    await s.expect(...DONE);
    assert.equal(s.finals()[0].text.trim().split("\n").length, 2000);
  },

  async a_wrong_key_is_a_matter_of_the_operator(s) {
    await s.start("SIM:unauthorized");
    await s.end();
    await s.expect("started", "failed engine/AUTH_REQUIRED");
    await s.expectMessage(/Incorrect API key provided/);
  },

  async a_rate_limit(s) {
    await s.start("SIM:rate_limit");
    await s.end();
    await s.expect("started", "failed engine/RESOURCE_EXHAUSTED");
    await s.expectMessage(/Rate limit|429/);
  },

  async an_error_of_the_provider(s) {
    await s.start("SIM:error");
    await s.end();
    await s.expect("started", "failed engine/PROVIDER_ERROR");
  },

  async a_stream_that_breaks_off(s) {
    await s.start("SIM:cut");
    await s.end();
    assert.equal(s.fcmp[0].type, "conversation.started");
    assert.equal(s.fcmp.at(-1).data.error?.code, "NETWORK", await s.shown());
  },

  async a_spent_budget(s) {
    await s.start("SIM:tool", { limits: { tokens: 1 } });
    await s.end();
    assert.equal(s.fcmp.at(-1).data.error?.code, "BUDGET_EXCEEDED", await s.shown());
    assert.equal(s.requests().length, 1);
  },

  async a_session_that_does_not_exist(s) {
    await s.start("SIM:hello");
    await s.end();
    s.forget();
    await s.reply("SIM:done");
    await s.end();
    await s.expect("replied", "failed engine/SESSION_NOT_FOUND");
  },

  async cancel_at_once(s) {
    await s.start("SIM:hold");
    assert(await s.cancel());
    await s.end();
    assert.equal(s.fcmp.at(-1).data.error?.code, "CANCELED", await s.shown());
  },

  async cancel_before_the_answer(s) {
    await s.start("SIM:hold");
    await s.called("hold");
    assert(await s.cancel());
    await s.end();
    await s.expect("started", "failed runtime/CANCELED");
    if (s.rec.session_id === undefined)
      return;
    await s.resume("SIM:done");
    await s.end();
    await s.expect(...DONE);
  },

  async cancel_in_the_middle_of_the_answer(s) {
    await s.start("SIM:stall");
    await s.called("stall");
    if (ENGINE === "gemini")
      await s.has("assistant.message.delta");
    assert(await s.cancel());
    await s.end();
    assert.equal(s.fcmp.at(-1).data.error?.code, "CANCELED", await s.shown());
  },

  async cancel_while_a_tool_runs(s) {
    await s.start("SIM:tool_sleeps");
    await s.called("tool_sleeps");
    await s.runs("sleep 300");
    assert(await s.cancel());
    await s.end();
    assert.equal(s.fcmp.at(-1).data.error?.code, "CANCELED", await s.shown());
  },
};

// After the others, whose key it takes away.
const alone = {
  async a_missing_key_is_a_matter_of_the_operator(s) {
    writeFileSync(s.service.keyFile, "");
    try {
      await s.start("SIM:done");
      await s.end();
    } finally {
      writeFileSync(s.service.keyFile, KEY);
    }
    await s.expect("started", "failed engine/AUTH_REQUIRED");
    assert.equal(s.requests().length, 0);
  },
};

// ---- the runner ----

function report(line) {
  console.log(line);
  if (process.env.CK_TAP_LOG_FILE_NAME)
    appendFileSync(process.env.CK_TAP_LOG_FILE_NAME, `${line}\n`);
}

const service = new Service(ENGINE);
let n = 0, bad = 0;

async function runCase([name, run]) {
  const session = new Session(service);
  const begin = Date.now();
  try {
    await run(session);
    report(`ok ${++n} - ${name}`);
  } catch (error) {
    bad++;
    report(`not ok ${++n} - ${name}`);
    console.log(error.message ?? error);
  }
  console.log(`# ${name}: ${((Date.now() - begin) / 1000).toFixed(1)} s`);
  for (const id of session.ids)
    for (const pid of processesOf(id))
      try { process.kill(pid, "SIGKILL"); } catch { /* it has ended */ }
}

async function runAll(list, atATime) {
  const left = Object.entries(list).filter(([name]) => name.includes(FILTER));
  await Promise.all(Array.from({ length: atATime }, async () => {
    while (left.length > 0)
      await runCase(left.shift());
  }));
}

try {
  await service.start();
  await runAll(cases, AT_A_TIME);
  await runAll(alone, 1);
} catch (error) {
  bad++;
  console.log(error);
}
if (!await service.stop())
  bad++;
process.exit(bad > 0 ? 1 : 0);
