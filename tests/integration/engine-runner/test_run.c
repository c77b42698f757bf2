/*
 * Runs over HTTP, with a gateway and a runner: what users see of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testkit/engine_runner_fixture.h"
#include "testkit/sse.h"

static struct engine_runner_fixture f;

TEST(a_run_that_is_done_succeeds)
{
	char id[RUN_ID_MAX];
	json_t *j;

	er_start(&f, NULL);
	er_begin(&f, id, ER_DONE, "");
	j = er_await(&f, id, "succeeded");
	ck_assert_str_eq(tk_text(j, "facts.reason_code"), "DONE_MARKER_FOUND");
	ck_assert_int_eq(tk_int(j, "attempt"), 1);
	ck_assert_int_eq(tk_int(j, "facts.usage.input_tokens"), 10);
	ck_assert_str_eq(tk_text(j, "runner"), "r1");
	ck_assert_str_eq(tk_text(j, "facts.engine_version"), "1.2.3");
	json_decref(j);
	er_events(&f, id, "started final completed");
	er_stop(&f);
}

TEST(a_run_goes_on_after_a_reply)
{
	struct tk_response a = { 0 };
	char id[RUN_ID_MAX];
	json_t *j;

	er_start(&f, NULL);
	er_begin(&f, id, ER_QUESTION, "");
	j = er_await(&f, id, "waiting_user");
	ck_assert_str_eq(tk_text(j, "interaction.interaction_id"), "ix_1");
	ck_assert_str_eq(tk_text(j, "interaction.prompt"), "Which one?");
	json_decref(j);
	er_events(&f, id, "started final asks");
	ck_assert_int_eq(er_reply(&f, &a, id, "ix_2", ER_DONE), 409);
	ck_assert_int_eq(er_reply(&f, &a, id, "ix_1", ER_QUESTION), 200);
	ck_assert_int_eq(er_reply(&f, &a, id, "ix_1", ER_QUESTION), 409);
	er_await_events(&f, id, 6);
	er_is(&f, id, "waiting_user", NULL);
	ck_assert_int_eq(er_reply(&f, &a, id, "ix_2", ER_DONE), 200);
	j = er_await(&f, id, "succeeded");
	ck_assert_int_eq(tk_int(j, "attempt"), 3);
	/* Each turn of codex has its session's total. */
	ck_assert_int_eq(tk_int(j, "facts.usage.input_tokens"), 10);
	json_decref(j);
	er_events(&f, id,
	    "started final asks replied final asks replied final completed");
	ck_assert_int_eq(er_reply(&f, &a, id, "ix_3", ER_DONE), 409);
	tk_response_free(&a);
	er_stop(&f);
}

TEST(an_engine_that_fails_is_classified)
{
	char id[RUN_ID_MAX];

	er_start(&f, NULL);
	er_begin(&f, id,
	    ER_STEPS(ER_THREAD, ER_TURN, "err=429 Too Many Requests", "exit=1"),
	    "");
	er_is(&f, id, "failed", "RESOURCE_EXHAUSTED");
	er_events(&f, id, "started failed:RESOURCE_EXHAUSTED");
	er_begin(&f, id, ER_STEPS(ER_THREAD, "die=11"), "");
	er_is(&f, id, "failed", "ENGINE_CRASHED");
	er_begin(&f, id, ER_STEPS(ER_THREAD, "exit=0"), "");
	er_is(&f, id, "failed", "END_SIGNAL_MISSING");
	er_begin(
	    &f, id, ER_STEPS(ER_THREAD, "err=401 Unauthorized", "exit=1"), "");
	er_is(&f, id, "failed", "AUTH_REQUIRED");
	er_stop(&f);
}

TEST(a_result_of_its_schema_completes_a_run)
{
	char id[RUN_ID_MAX];

	er_start(&f, NULL);
	er_begin(&f, id,
	    ER_STEPS(ER_THREAD, ER_TURN,
		ER_MESSAGE("i1", "Here:\\n{\\\"n\\\": 3}"), ER_END),
	    "\"output_schema\":{\"type\":\"object\",\"required\":[\"n\"],"
	    "\"properties\":{\"n\":{\"type\":\"integer\"}}},");
	er_is(&f, id, "succeeded", "FINAL_STRUCTURED_OUTPUT_SELECTED");
	er_stop(&f);
}

TEST(the_last_attempt_may_have_no_question)
{
	struct tk_response a = { 0 };
	char id[RUN_ID_MAX];

	er_start(&f, NULL);
	er_begin(&f, id, ER_QUESTION, "\"limits\":{\"attempts_max\":2},");
	er_is(&f, id, "waiting_user", NULL);
	ck_assert_int_eq(er_reply(&f, &a, id, "ix_1", ER_QUESTION), 200);
	er_is(&f, id, "failed", "ATTEMPTS_EXHAUSTED");
	tk_response_free(&a);
	er_stop(&f);
}

TEST(what_an_engine_changes_is_listed)
{
	char id[RUN_ID_MAX], path[256];
	json_t *j;

	er_start(&f, NULL);
	er_begin(&f, id,
	    ER_STEPS(ER_THREAD, ER_TURN, "write=made.txt", "write=made.txt",
		ER_MESSAGE("i1", "Hi" ER_DONE_TEXT), ER_END),
	    "");
	er_is(&f, id, "succeeded", NULL);
	snprintf(path, sizeof(path), "/v1/runs/%s/files?user_id=ann", id);
	j = gw_json(&f.gw, "GET", path, NULL);
	ck_assert_str_eq(tk_text(j, "items.0.path"), "made.txt");
	ck_assert_str_eq(tk_text(j, "items.0.change"), "created");
	ck_assert_ptr_null(tk_find(j, "items.1"));
	json_decref(j);
	snprintf(path, sizeof(path),
	    "/v1/runs/%s/files/content?user_id=ann&path=made.txt", id);
	j = gw_json(&f.gw, "GET", path, NULL);
	ck_assert_str_eq(tk_text(j, "data"), "eA==");
	json_decref(j);
	snprintf(path, sizeof(path),
	    "/v1/runs/%s/logs?user_id=ann&stream=stdout&from=1&to=6", id);
	j = gw_json(&f.gw, "GET", path, NULL);
	ck_assert_str_eq(tk_text(j, "data"), "InR5cGU=");
	ck_assert_int_eq(tk_int(j, "next"), 6);
	json_decref(j);
	er_stop(&f);
}

/* What the command prints of a spool. */
static char *
replay(const char *id, bool rasp)
{
	char spool[400];
	const char *argv[] = { tk_bin("engine-runner"), "replay", "--spool",
		spool, rasp ? "--rasp" : "--fcmp", NULL };
	struct tk_proc p;

	snprintf(spool, sizeof(spool), "%s/runs-r1/%s/1", tk_dir(), id);
	tk_spawn(&p, rasp ? "rasp" : "fcmp", argv, NULL);
	ck_assert_int_eq(tk_wait(&p, ER_MS), 0);
	return tk_read_file(p.log, NULL);
}

TEST(a_replay_gives_the_events_that_were_published)
{
	char id[RUN_ID_MAX], path[400];
	char *rasp, *fcmp, *written, *line, *save = NULL;
	struct tk_sse s;
	struct tk_sse_event e;
	json_t *j;

	er_start(&f, NULL);
	er_begin(&f, id,
	    ER_STEPS(ER_THREAD, ER_TURN, "out=noise", "err=more noise",
		"write=made.txt", ER_MESSAGE("i1", "Hi" ER_DONE_TEXT), ER_END),
	    "");
	er_is(&f, id, "succeeded", NULL);
	er_await_processes(0);
	rasp = replay(id, true);
	fcmp = replay(id, false);
	snprintf(
	    path, sizeof(path), "%s/runs-r1/%s/1/events.jsonl", tk_dir(), id);
	written = tk_read_file(path, NULL);
	ck_assert_str_eq(written, rasp);
	snprintf(
	    path, sizeof(path), "/v1/runs/%s/events?cursor=0&user_id=ann", id);
	tk_sse_open(&s, f.gw.gateway.http, path);
	for (line = strtok_r(fcmp, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save)) {
		j = tk_json(line, strlen(line));
		ck_assert(tk_sse_next(&s, TK_SSE_MS, &e));
		ck_assert(json_equal(j, e.j));
		json_decref(j);
		json_decref(e.j);
	}
	ck_assert(tk_sse_ends(&s, TK_SSE_MS));
	tk_sse_close(&s);
	free(rasp);
	free(fcmp);
	free(written);
	er_stop(&f);
}

TEST(a_link_out_of_the_workspace_is_not_followed)
{
	struct tk_response a = { 0 };
	char id[RUN_ID_MAX], path[256], link_path[400];

	er_start(&f, NULL);
	er_begin(&f, id, ER_DONE, "");
	er_is(&f, id, "succeeded", NULL);
	snprintf(link_path, sizeof(link_path),
	    "%s/runs-r1/%s/workspace/work/link", tk_dir(), id);
	ck_assert_int_eq(symlink("/etc/passwd", link_path), 0);
	snprintf(path, sizeof(path),
	    "/v1/runs/%s/files/content?user_id=ann&path=link", id);
	ck_assert_int_eq(gw_request(&f.gw, &a, "GET", path, NULL), 400);
	snprintf(path, sizeof(path),
	    "/v1/runs/%s/files/content?user_id=ann&path=none", id);
	ck_assert_int_eq(gw_request(&f.gw, &a, "GET", path, NULL), 404);
	tk_response_free(&a);
	er_stop(&f);
}

TEST(a_run_is_continued_by_another_one)
{
	struct tk_response a = { 0 };
	char first[RUN_ID_MAX], id[RUN_ID_MAX], more[200];

	er_start(&f, NULL);
	er_begin(&f, first,
	    ER_STEPS(ER_THREAD, ER_TURN, "write=made.txt",
		ER_MESSAGE("i1", "Hi" ER_DONE_TEXT), ER_END),
	    "");
	er_is(&f, first, "succeeded", NULL);
	snprintf(more, sizeof(more), "\"resumes\":\"%s\",", first);
	er_begin(&f, id,
	    ER_STEPS(ER_THREAD, "read=made.txt", "wait=300",
		ER_MESSAGE("i1", "Hi" ER_DONE_TEXT), ER_END),
	    more);
	ck_assert_int_eq(er_post(&f, &a, ER_DONE, more), 409);
	ck_assert(tk_response_has(&a, "run_busy"));
	er_is(&f, id, "succeeded", NULL);
	tk_response_free(&a);
	er_stop(&f);
}

TEST(a_start_is_repeated_with_its_key)
{
	char first[RUN_ID_MAX], id[RUN_ID_MAX];
	struct tk_response a = { 0 };

	er_start(&f, NULL);
	er_begin(&f, first, ER_DONE, "\"idempotency_key\":\"k1\",");
	er_begin(&f, id, ER_DONE, "\"idempotency_key\":\"k1\",");
	ck_assert_str_eq(first, id);
	ck_assert_int_eq(
	    er_post(&f, &a, ER_QUESTION, "\"idempotency_key\":\"k1\","), 409);
	ck_assert(tk_response_has(&a, "key_reused"));
	er_is(&f, id, "succeeded", NULL);
	er_events(&f, id, "started final completed");
	tk_response_free(&a);
	er_stop(&f);
}

TEST(what_no_runner_has_is_rejected)
{
	struct tk_response a = { 0 };

	er_start(&f, NULL);
	ck_assert_int_eq(gw_request(&f.gw, &a, "POST", "/v1/runs",
			     "{\"user_id\":\"ann\",\"engine\":\"gemini\","
			     "\"prompt\":\"x\"}"),
	    503);
	ck_assert_int_eq(gw_request(&f.gw, &a, "POST", "/v1/runs",
			     "{\"user_id\":\"ann\",\"engine\":\"vim\","
			     "\"prompt\":\"x\"}"),
	    400);
	ck_assert_int_eq(er_post(&f, &a, ER_DONE, "\"model\":\"none\","), 400);
	tk_response_free(&a);
	er_stop(&f);
}

TEST(a_run_of_another_user_is_not_found)
{
	struct tk_response a = { 0 };
	char id[RUN_ID_MAX], path[256];

	er_start(&f, NULL);
	er_begin(&f, id, ER_QUESTION, "");
	er_is(&f, id, "waiting_user", NULL);
	snprintf(path, sizeof(path), "/v1/runs/%s?user_id=bob", id);
	ck_assert_int_eq(gw_request(&f.gw, &a, "GET", path, NULL), 404);
	snprintf(path, sizeof(path), "/v1/runs/%s/cancel?user_id=bob", id);
	ck_assert_int_eq(gw_request(&f.gw, &a, "POST", path, NULL), 404);
	snprintf(path, sizeof(path), "/v1/runs/%s/reply", id);
	ck_assert_int_eq(gw_request(&f.gw, &a, "POST", path,
			     "{\"user_id\":\"bob\",\"interaction_id\":\"ix_1\","
			     "\"content\":\"x\"}"),
	    404);
	er_is(&f, id, "waiting_user", NULL);
	tk_response_free(&a);
	er_stop(&f);
}

static bool
folder_is_removed(void *arg)
{
	return access(arg, F_OK) != 0;
}

TEST(a_deleted_run_leaves_no_folder)
{
	char id[RUN_ID_MAX], path[256], folder[400];

	er_start(&f, NULL);
	er_begin(&f, id, ER_DONE, "");
	er_is(&f, id, "succeeded", NULL);
	snprintf(path, sizeof(path), "/v1/runs/%s?user_id=ann", id);
	gw_ok(&f.gw, "DELETE", path, NULL);
	snprintf(folder, sizeof(folder), "%s/runs-r1/%s", tk_dir(), id);
	ck_assert(tk_until(folder_is_removed, folder, ER_MS));
	er_stop(&f);
}

/* The next event of a run, whose type and payload are checked. */
static void
event_is(natsSubscription *sub, const char *type, const char *id,
    const char *member, const char *text)
{
	natsMsg *m;
	json_t *j;

	ck_assert_int_eq(natsSubscription_NextMsg(&m, sub, ER_MS), NATS_OK);
	j = tk_nats_json(m);
	ck_assert_str_eq(tk_text(j, "type"), type);
	ck_assert_str_eq(tk_text(j, "payload.run_id"), id);
	ck_assert_str_eq(tk_text(j, "payload.user_id"), "ann");
	ck_assert_str_eq(tk_text(j, member), text);
	json_decref(j);
	natsMsg_Destroy(m);
}

TEST(other_services_get_events_of_a_run)
{
	struct tk_response a = { 0 };
	natsSubscription *started, *question, *ended;
	char id[RUN_ID_MAX];

	er_start(&f, NULL);
	natsConnection_SubscribeSync(
	    &started, f.gw.nc, "soul.event.run_started.*");
	natsConnection_SubscribeSync(
	    &question, f.gw.nc, "soul.event.run_asks.*");
	natsConnection_SubscribeSync(&ended, f.gw.nc, "soul.event.run_ended.*");
	natsConnection_Flush(f.gw.nc);
	er_begin(&f, id, ER_QUESTION, "\"mode\":\"auto\",");
	event_is(started, "run_started", id, "payload.mode", "auto");
	event_is(question, "run_asks", id, "payload.prompt", "Which one?");
	ck_assert_int_eq(er_reply(&f, &a, id, "ix_1", ER_DONE), 200);
	event_is(ended, "run_ended", id, "payload.text", "Hi");
	natsSubscription_Destroy(started);
	natsSubscription_Destroy(question);
	natsSubscription_Destroy(ended);
	tk_response_free(&a);
	er_stop(&f);
}

TEST(a_skill_is_copied_to_the_workspace)
{
	char id[RUN_ID_MAX], skills[400], file[400];
	struct tk_response a = { 0 };
	json_t *j;

	snprintf(skills, sizeof(skills), "SKILLS_DIR=%s", tk_path("skills"));
	ck_assert_int_eq(mkdir(tk_path("skills"), 0700), 0);
	ck_assert_int_eq(mkdir(tk_path("skills/greet"), 0700), 0);
	tk_write_file(tk_path("skills/greet/SKILL.md"), "Greet.");
	er_start(&f, TK_ENV(skills));
	gw_request(&f.gw, &a, "POST", "/v1/runs",
	    "{\"user_id\":\"ann\",\"engine\":\"codex\",\"skill\":\"greet\"}");
	j = gw_response_json(&a, 202);
	snprintf(id, sizeof(id), "%s", tk_text(j, "run_id"));
	ck_assert_str_eq(tk_text(j, "title"), "greet");
	json_decref(j);
	/* The script is no prompt of a skill. */
	er_is(&f, id, "failed", "ENGINE_FAILED");
	snprintf(file, sizeof(file),
	    "%s/runs-r1/%s/workspace/work/skills/greet/SKILL.md", tk_dir(), id);
	ck_assert_int_eq(access(file, R_OK), 0);
	gw_request(&f.gw, &a, "POST", "/v1/runs",
	    "{\"user_id\":\"ann\",\"engine\":\"codex\",\"skill\":\"none\"}");
	j = gw_response_json(&a, 202);
	snprintf(id, sizeof(id), "%s", tk_text(j, "run_id"));
	json_decref(j);
	er_is(&f, id, "failed", "INVALID_INPUT");
	er_events(&f, id, "failed:INVALID_INPUT");
	tk_response_free(&a);
	er_stop(&f);
}
