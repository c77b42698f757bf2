/*
 * What surrounds a runner: a disk that is full, a clock that is set, servers
 * that give it no more rights than it needs.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testkit/clock_shift.h"
#include "testkit/engine_runner_fixture.h"
#include "testkit/nats.h"
#include "testkit/rights.h"

static struct engine_runner_fixture f;

/* ---- a full disk ---- */

/* The runner's disk is a small one of this test's alone; false: may not. */
static bool
mount_disk(const char *options)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/runs-r1", tk_dir());
	if (unshare(CLONE_NEWNS) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return false;
	ck_assert_int_eq(mkdir(path, 0700), 0);
	return mount("tmpfs", path, "tmpfs", 0, options) == 0;
}

static void
delete_run(const char *id)
{
	struct tk_response a = { 0 };
	char path[200];

	snprintf(path, sizeof(path), "/v1/runs/%s?user_id=ann", id);
	ck_assert_int_lt(gw_request(&f.gw, &a, "DELETE", path, NULL), 300);
	tk_response_free(&a);
}

static bool
has_room(void *id)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/runs-r1/%s", tk_dir(), (char *)id);
	return access(path, F_OK) != 0;
}

TEST_T(a_full_disk_ends_the_run_that_fills_it, 120)
{
	char waits[RUN_ID_MAX], fills[RUN_ID_MAX], id[RUN_ID_MAX];
	struct tk_response a = { 0 };

	if (!mount_disk("size=4m")) {
		printf("skipped: no disk can be mounted here\n");
		return;
	}
	er_start(&f, NULL);
	er_begin(&f, waits, ER_QUESTION, "");
	er_is(&f, waits, "waiting_user", NULL);
	er_begin(&f, fills, ER_STEPS(ER_THREAD, ER_TURN, "endless"), "");
	er_is(&f, fills, "failed", "OUTPUT_LIMIT");
	er_await_processes(0);

	/* Others are as they were, once there is room. */
	delete_run(fills);
	ck_assert(tk_until(has_room, fills, 3 * ER_MS));
	ck_assert_int_eq(er_reply(&f, &a, waits, "ix_1", ER_DONE), 200);
	er_is(&f, waits, "succeeded", NULL);
	er_begin(&f, id, ER_DONE, "");
	er_is(&f, id, "succeeded", NULL);
	er_events(&f, id, "started final completed");
	tk_response_free(&a);
	er_stop(&f);
}

/* ---- a clock ---- */

static void
let_go_on(const char *id)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/runs-r1/%s/workspace/work/go",
	    tk_dir(), id);
	tk_write_file(path, "");
}

/* A run across two steps of the clock, which requests of others need right. */
static void
run_across(int64_t shift)
{
	char id[RUN_ID_MAX];

	er_begin(&f, id,
	    ER_STEPS(ER_THREAD, ER_TURN, ER_MESSAGE("i1", "One."), "await=go",
		ER_MESSAGE("i2", "Hi" ER_DONE_TEXT), ER_END),
	    "");
	er_await_events(&f, id, 2);
	tk_clock_shift(shift);
	let_go_on(id);
	er_is(&f, id, "succeeded", NULL);
	er_events(&f, id, "started final final completed");
	tk_clock_shift(0);
}

TEST(a_clock_that_is_set_ends_nothing)
{
	char id[RUN_ID_MAX];
	struct tk_response a = { 0 };

	er_start(&f, tk_clock_env());
	run_across(7200);
	run_across(-7200);
	run_across(86400 * 400);
	er_begin(&f, id, ER_QUESTION, "");
	er_is(&f, id, "waiting_user", NULL);
	tk_clock_shift(-7200);
	ck_assert_int_eq(er_reply(&f, &a, id, "ix_1", ER_DONE), 200);
	er_is(&f, id, "succeeded", NULL);
	/* Times that such a step makes negative count as none. */
	ck_assert_int_ge(
	    tk_service_metric(&f.runner[0], "soul_run_seconds_sum"), 0);
	ck_assert_int_ge(
	    tk_service_metric(&f.runner[0], "soul_run_publish_lag_seconds_sum"),
	    0);
	tk_response_free(&a);
	er_stop(&f);
}

/* ---- rights ---- */

static void
request(const char *method, const char *id, const char *what, int status)
{
	struct tk_response a = { 0 };
	char path[256];

	snprintf(path, sizeof(path), "/v1/runs/%s%suser_id=ann", id, what);
	ck_assert_int_eq(gw_request(&f.gw, &a, method, path, NULL), status);
	tk_response_free(&a);
}

/* Replies go to inboxes of llm-orchestrator. */
static natsConnection *
connect_as_orchestrator(void)
{
	natsOptions *o;
	natsConnection *nc;

	ck_assert_int_eq(natsOptions_Create(&o), NATS_OK);
	ck_assert_int_eq(natsOptions_SetURL(o, f.gw.nats.url), NATS_OK);
	ck_assert_int_eq(
	    natsOptions_SetCustomInboxPrefix(o, "_INBOX.llm-orchestrator"),
	    NATS_OK);
	ck_assert_int_eq(natsConnection_Connect(&nc, o), NATS_OK);
	natsOptions_Destroy(o);
	return nc;
}

static void
call_task(void)
{
	natsConnection *nc = connect_as_orchestrator();
	char code[TK_CODE];
	json_t *list = tk_nats_request(nc, "soul.tool.engine-runner.list",
	    "{\"user_id\":\"ann\",\"soul_id\":\"lena\",\"text\":\"x\"}", code);
	json_t *q = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:O,s:{s:s}}",
	    "call_id", "c1", "user_id", "ann", "soul_id", "lena", "session_id",
	    "s1", "turn_id", "t1", "name", "run_task", "definition",
	    tk_find(list, "tools.0.definition"), "arguments", "task", "silent");
	char *body = json_dumps(q, JSON_COMPACT);
	json_t *rep =
	    tk_nats_request(nc, "soul.tool.engine-runner.call", body, code);

	ck_assert_msg(json_is_true(json_object_get(rep, "ok")), "%s",
	    json_dumps(rep, JSON_COMPACT));
	tk_nats_send(
	    f.gw.nc, "soul.tool.engine-runner.cancel", "{\"call_id\":\"c1\"}");
	free(body);
	json_decref(rep);
	json_decref(q);
	json_decref(list);
	natsConnection_Destroy(nc);
}

/* All that it does for owners and souls. */
TEST_T(the_runners_rights_are_enough, 120)
{
	struct tk_response a = { 0 };
	natsSubscription *ends, *present;
	char id[RUN_ID_MAX];
	json_t *j;

	er_start_with_rights(&f, TK_ENV("TASK_POLICY=auto"));
	ends = tk_nats_listen(f.gw.nc, "soul.event.run_ended.*");
	present = tk_nats_listen(f.gw.nc, "soul.tool.present.*");
	er_begin(&f, id, ER_QUESTION, "\"session_id\":\"s1\",");
	er_is(&f, id, "waiting_user", NULL);
	ck_assert_int_eq(er_reply(&f, &a, id, "ix_1", ER_DONE), 200);
	er_is(&f, id, "succeeded", NULL);
	j = tk_nats_next(ends, ER_MS, NULL);
	ck_assert_ptr_nonnull(j);
	json_decref(j);
	request("GET", id, "/logs?stream=stdout&", 200);
	request("GET", id, "/files?", 200);
	request("DELETE", id, "?", 200);
	er_begin(&f, id, ER_STEPS(ER_THREAD, ER_TURN, "silent"), "");
	er_await_turn(&f, id);
	er_make_due(&f, id);
	ck_assert(er_cancel(&f, id));
	er_is(&f, id, "canceled", NULL);
	call_task();
	for (int i = 0; i < 2; i++) {
		j = tk_nats_next(ends, ER_MS, NULL);
		ck_assert_ptr_nonnull(j);
		json_decref(j);
	}
	j = tk_nats_next(present, ER_MS, NULL);
	ck_assert_ptr_nonnull(j);
	json_decref(j);
	tk_service_end(&f.runner[0]);
	ck_assert_str_eq(tk_rights_denied(&f.gw.nats, &f.gw.redis), "");
	natsSubscription_Destroy(ends);
	natsSubscription_Destroy(present);
	tk_response_free(&a);
	er_stop(&f);
}
