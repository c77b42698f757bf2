/*
 * engine_chaos: see engine_chaos.h.
 */
#include "testkit/engine_chaos.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "testkit/engine_runner_fixture.h"
#include "testkit/sse.h"

#define RUNS_LIVE  "RUNS_MAX=12"
#define KILL_MS    700
#define STEP_MS    20
#define STEPS_MAX  32
#define TIME_MAX_S 900

enum chaos_victim {
	VICTIM_RUNNER,
	VICTIM_SHIM,
	VICTIM_ENGINE,
	VICTIM_GATEWAY,
	VICTIM_REDIS,
	VICTIM_NATS,
	VICTIMS_N
};

static const char *const chaos_victims[] = { "runner", "shim", "engine",
	"gateway", "redis", "nats" };

/* A run, and the reader of its events. */
struct chaos_run {
	char id[RUN_ID_MAX], key[32];
	struct tk_sse sse;
	bool open, ended;
	int64_t seq;       /* of the newest event that was read */
	size_t reconnects; /* of the reader */
	char end[80];
};

struct chaos {
	struct engine_runner_fixture f;
	const struct engine_chaos *c;
	struct chaos_run *run;
	size_t n; /* started */
	uint64_t random;
	size_t killed[VICTIMS_N], kills;
	struct mono kill_at;
};

static uint64_t
chaos_random(struct chaos *x, uint64_t below)
{
	/* xorshift64* */
	x->random ^= x->random >> 12;
	x->random ^= x->random << 25;
	x->random ^= x->random >> 27;
	return ((x->random * 0x2545f4914f6cdd1dULL) >> 33) % below;
}

/* ---- runs ---- */

static const char *const chaos_waits[] = { "wait=20", "wait=100", "wait=300",
	"wait=700" };

/* Some messages, then an end: done, a question, a failure. */
static void
chaos_script(struct chaos *x, const char *steps[STEPS_MAX], bool last)
{
	static const char *const messages[] = { ER_MESSAGE("i1", "one"),
		ER_MESSAGE("i2", "two"), ER_MESSAGE("i3", "three") };
	size_t n = 0, i, count = 1 + chaos_random(x, 6);

	steps[n++] = ER_THREAD;
	steps[n++] = ER_TURN;
	for (i = 0; i < count; i++) {
		steps[n++] = chaos_waits[chaos_random(x, NELEM(chaos_waits))];
		steps[n++] = messages[i % NELEM(messages)];
		if (chaos_random(x, 4) == 0)
			steps[n++] = "daemon";
	}
	if (last || chaos_random(x, 3) > 0)
		steps[n++] = ER_MESSAGE("i9", "Hi" ER_DONE_TEXT);
	if (chaos_random(x, 8) == 0)
		steps[n++] = "exit=1";
	steps[n++] = ER_END;
	steps[n] = NULL;
}

/* Its key makes a repetition after a lost response the same run. */
static void
chaos_start(struct chaos *x)
{
	struct chaos_run *run = &x->run[x->n];
	struct tk_response a = { 0 };
	const char *steps[STEPS_MAX];
	uint64_t random = x->random;
	char more[64];
	json_t *j;

	snprintf(run->key, sizeof(run->key), "key-%zu", x->n);
	snprintf(more, sizeof(more), "\"idempotency_key\":\"%s\",", run->key);
	chaos_script(x, steps, false);
	if (er_post(&x->f, &a, steps, more) == 202) {
		j = gw_response_json(&a, 202);
		snprintf(run->id, sizeof(run->id), "%s", tk_text(j, "run_id"));
		json_decref(j);
		x->n++;
	} else {
		x->random = random; /* the same content */
	}
	tk_response_free(&a);
}

static void
chaos_reply(struct chaos *x, struct chaos_run *run, const char *question)
{
	struct tk_response a = { 0 };
	const char *steps[STEPS_MAX];

	chaos_script(x, steps, true);
	/* It may have been given, although its response was lost. */
	(void)er_reply(&x->f, &a, run->id, question, steps);
	tk_response_free(&a);
}

/* ---- readers ---- */

static void
chaos_close(struct chaos_run *run)
{
	if (run->open)
		tk_sse_close(&run->sse);
	run->open = false;
}

static void
chaos_open(struct chaos *x, struct chaos_run *run)
{
	char path[256], last[24];
	const char *begin;

	snprintf(path, sizeof(path), "/v1/runs/%s/events?user_id=ann", run->id);
	snprintf(last, sizeof(last), "%lld", (long long)run->seq);
	tk_sse_send(&run->sse, x->f.gw.gateway.http, path, last);
	run->open = true;
	run->reconnects++;
	if (!tk_http_has(&run->sse.c, "retry: 2000\n\n", 2000)) {
		chaos_close(run);
		return;
	}
	begin = strstr(run->sse.c.in.p, "retry: 2000\n\n");
	run->sse.at =
	    (size_t)(begin - run->sse.c.in.p) + strlen("retry: 2000\n\n");
}

static void
chaos_on_event(struct chaos *x, struct chaos_run *run, json_t *e)
{
	const char *type = tk_text(e, "type");

	ck_assert_msg(!run->ended, "%s: %s after its end", run->id, type);
	ck_assert_msg(tk_int(e, "seq") == run->seq + 1,
	    "%s: seq %lld after %lld", run->id, (long long)tk_int(e, "seq"),
	    (long long)run->seq);
	ck_assert_str_eq(tk_text(e, "run_id"), run->id);
	run->seq++;
	if (run->seq == 1 && strcmp(type, FAILED) != 0)
		ck_assert_str_eq(type, STARTED);
	else
		ck_assert_str_ne(type, STARTED);
	if (strcmp(type, "user.input.required") == 0)
		chaos_reply(x, run, tk_text(e, "data.interaction_id"));
	if (strcmp(type, COMPLETED) == 0 || strcmp(type, FAILED) == 0) {
		run->ended = true;
		snprintf(run->end, sizeof(run->end), "%s",
		    strcmp(type, COMPLETED) == 0
			? "succeeded"
			: tk_text(e, "data.error.code"));
	}
}

/* What has come; a reader disconnects at times, as clients do. */
static void
chaos_read(struct chaos *x, struct chaos_run *run)
{
	struct tk_sse_event e;

	if (!run->open)
		chaos_open(x, run);
	while (run->open && tk_sse_next(&run->sse, STEP_MS, &e)) {
		if (strcmp(e.name, "chat_event") == 0)
			chaos_on_event(x, run, e.j);
		json_decref(e.j);
		if (chaos_random(x, 3) == 0)
			chaos_close(run);
	}
	if (run->open && (run->sse.c.eof || chaos_random(x, 4) == 0))
		chaos_close(run);
}

/* A question whose reply was lost with a process. */
static void
chaos_check_question(struct chaos *x, struct chaos_run *run)
{
	struct tk_response a = { 0 };
	char path[256];
	json_t *j;

	snprintf(path, sizeof(path), "/v1/runs/%s?user_id=ann", run->id);
	if (gw_request(&x->f.gw, &a, "GET", path, NULL) == 200) {
		j = gw_response_json(&a, 200);
		if (strcmp(tk_text(j, "state"), "waiting_user") == 0)
			chaos_reply(
			    x, run, tk_text(j, "interaction.interaction_id"));
		json_decref(j);
	}
	tk_response_free(&a);
}

/* ---- kills ---- */

static void
chaos_kill(struct chaos *x, enum chaos_victim v)
{
	struct engine_runner_fixture *f = &x->f;

	x->killed[v]++;
	x->kills++;
	switch (v) {
	case VICTIM_RUNNER:
		tk_service_kill(&f->runner[0]);
		er_spawn_runner(f, 0, TK_ENV(RUNS_LIVE));
		break;
	case VICTIM_SHIM:
		er_kill_one(true, chaos_random(x, 1000));
		break;
	case VICTIM_ENGINE:
		er_kill_one(false, chaos_random(x, 1000));
		break;
	case VICTIM_GATEWAY:
		for (size_t i = 0; i < x->n; i++)
			chaos_close(&x->run[i]);
		tk_service_kill(&f->gw.gateway);
		gateway_fixture_spawn(
		    &f->gw, &f->gw.gateway, "chat-gateway", NULL);
		break;
	case VICTIM_REDIS:
		tk_server_stop(&f->gw.redis, SIGKILL);
		tk_server_restart(&f->gw.redis);
		break;
	default:
		tk_server_stop(&f->gw.nats, SIGKILL);
		tk_server_restart(&f->gw.nats);
		break;
	}
}

static void
chaos_maybe_kill(struct chaos *x)
{
	if (x->kills == x->c->kills ||
	    mono_diff_ns(clock_mono(), x->kill_at) < 0)
		return;
	chaos_kill(x, (enum chaos_victim)chaos_random(x, VICTIMS_N));
	x->kill_at = mono_add_ms(clock_mono(), KILL_MS);
}

/* ---- afterwards ---- */

static bool
chaos_is_over(const struct chaos *x)
{
	size_t i;

	if (x->n < x->c->runs || x->kills < x->c->kills)
		return false;
	for (i = 0; i < x->n; i++)
		if (!x->run[i].ended)
			return false;
	return true;
}

/* All of it, read anew, with as many connections as are wanted. */
static void
chaos_check_run(struct chaos *x, struct chaos_run *run)
{
	struct chaos_run whole = { 0 };
	json_t *j = er_record(&x->f, run->id);
	const char *state = tk_text(j, "state");

	ck_assert_msg(
	    strcmp(state, "succeeded") == 0 || strcmp(state, "failed") == 0,
	    "%s is %s", run->id, state);
	ck_assert_int_eq(tk_int(j, "events"), run->seq);
	if (strcmp(run->end, "succeeded") == 0)
		ck_assert_str_eq(state, "succeeded");
	else
		ck_assert_str_eq(tk_text(j, "facts.error.code"), run->end);
	json_decref(j);
	snprintf(whole.id, sizeof(whole.id), "%s", run->id);
	while (!whole.ended ||
	    run->reconnects + whole.reconnects < x->c->reconnects) {
		if (whole.ended) {
			whole.ended = false;
			whole.seq = 0;
		}
		chaos_read(x, &whole);
	}
	ck_assert_int_eq(whole.seq, run->seq);
	ck_assert_str_eq(whole.end, run->end);
	chaos_close(&whole);
	run->reconnects += whole.reconnects;
}

static long
chaos_files(const struct tk_proc *p)
{
	char path[64];
	struct dirent *e;
	long n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)p->pid);
	d = opendir(path);
	ck_assert_ptr_nonnull(d);
	while ((e = readdir(d)) != NULL)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

/* What it has open without a run, but for connections that come and go. */
static void
chaos_check_files(struct chaos *x)
{
	long before, after;
	char id[RUN_ID_MAX];
	size_t i;

	er_begin(&x->f, id, ER_DONE, "");
	er_is(&x->f, id, "succeeded", NULL);
	er_await_processes(0);
	before = chaos_files(&x->f.runner[0].proc);
	for (i = 0; i < 10; i++) {
		er_begin(&x->f, id, ER_DONE, "");
		er_is(&x->f, id, "succeeded", NULL);
	}
	er_await_processes(0);
	after = chaos_files(&x->f.runner[0].proc);
	ck_assert_msg(
	    after <= before + 2, "%ld descriptors, then %ld", before, after);
}

static void
chaos_report(const struct chaos *x)
{
	size_t succeeded = 0, least = SIZE_MAX, i;
	int64_t events = 0;

	for (i = 0; i < x->n; i++) {
		succeeded += strcmp(x->run[i].end, "succeeded") == 0;
		events += x->run[i].seq;
		if (x->run[i].reconnects < least)
			least = x->run[i].reconnects;
	}
	printf("engine_chaos: %zu runs, %zu succeeded, %lld events, %zu "
	       "connections a reader at least; killed:",
	    x->n, succeeded, (long long)events, least);
	for (i = 0; i < VICTIMS_N; i++)
		printf(" %s %zu", chaos_victims[i], x->killed[i]);
	printf("\n");
}

void
engine_chaos_run(const struct engine_chaos *c)
{
	struct chaos x = { .c = c, .random = c->seed | 1 };
	struct mono until = mono_add_ms(clock_mono(), TIME_MAX_S * 1000);
	size_t turn = 0;

	printf("engine_chaos: seed %llu\n", (unsigned long long)c->seed);
	x.run = mem_calloc(c->runs, sizeof(*x.run));
	er_start(&x.f, TK_ENV(RUNS_LIVE));
	x.kill_at = mono_add_ms(clock_mono(), KILL_MS);
	while (!chaos_is_over(&x)) {
		struct chaos_run *run;

		ck_assert_msg(mono_diff_ns(until, clock_mono()) > 0,
		    "the runs do not end");
		if (x.n < c->runs)
			chaos_start(&x);
		chaos_maybe_kill(&x);
		if (x.n == 0)
			continue;
		run = &x.run[turn++ % x.n];
		if (run->ended)
			continue;
		chaos_read(&x, run);
		if (!run->ended && chaos_random(&x, 8) == 0)
			chaos_check_question(&x, run);
	}
	tk_service_wait(&x.f.runner[0]);
	er_await_processes(0);
	for (size_t i = 0; i < x.n; i++)
		chaos_check_run(&x, &x.run[i]);
	chaos_check_files(&x);
	chaos_report(&x);
	for (size_t i = 0; i < x.n; i++)
		chaos_close(&x.run[i]);
	er_stop(&x.f);
	free(x.run);
}
