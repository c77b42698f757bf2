/*
 * Alarms that are due in one minute (ALARMS, 100,000), on one process, up to
 * the hand-over to a stand-in for the orchestrator: each a single time, and the
 * lag from its time until its turn is requested; beside bare Redis, which
 * stores and removes as many records.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "state/keys.h"
#include "testkit/alarm_clock_fixture.h"
#include "testkit/figures.h"
#include "testkit/json.h"

#define ALARMS    100000
#define USERS     20000
#define WINDOW_MS 60000
/* Until the first is due. */
#define FIRST_MS 60000
#define BATCH    1000

static struct alarm_clock_fixture f;
static size_t n_alarms;

/* ---- the stand-in ---- */

struct handed {
	unsigned char *times; /* by alarm */
	double *lag_ms;
	size_t n, doubled;
	pthread_mutex_t lock;
};

static struct handed handed = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void
handed_add(size_t i, double lag_ms)
{
	pthread_mutex_lock(&handed.lock);
	if (i < n_alarms && handed.times[i]++ == 0)
		handed.lag_ms[handed.n++] = lag_ms;
	else
		handed.doubled++;
	pthread_mutex_unlock(&handed.lock);
}

/* The text ends with "#<number> <ms>". */
static void
handed_on_turn(
    natsConnection *nc, natsSubscription *sub, natsMsg *m, void *closure)
{
	int64_t now = clock_wall().ms;
	json_t *j = json_loadb(
	    natsMsg_GetData(m), (size_t)natsMsg_GetDataLength(m), 0, NULL);
	const char *text = strchr(tk_find_text(j, "unasked.text"), '#');
	char reply[512];
	char *end;

	(void)sub;
	(void)closure;
	if (text != NULL) {
		size_t i = strtoul(text + 1, &end, 10);

		handed_add(i, (double)(now - strtoll(end, NULL, 10)));
	}
	snprintf(reply, sizeof(reply),
	    "{\"turn_id\":\"%s\",\"state\":\"completed\",\"response\":{"
	    "\"session_id\":\"s\",\"terminal_id\":\"t\",\"soul_id\":\"s\","
	    "\"reply\":\"\",\"executed_skills\":[]},\"unasked\":{\"outcome\":"
	    "\"spoken\"}}",
	    tk_find_text(j, "turn_id"));
	(void)natsConnection_PublishString(nc, natsMsg_GetReply(m), reply);
	json_decref(j);
	natsMsg_Destroy(m);
}

static bool
handed_all(void *arg)
{
	bool all;

	(void)arg;
	pthread_mutex_lock(&handed.lock);
	all = handed.n >= n_alarms;
	pthread_mutex_unlock(&handed.lock);
	return all;
}

/* ---- records ---- */

static void
alarm_queue(struct state_pipe *p, size_t i, int64_t at_ms)
{
	char user[32], id[32], json[1024], member[80], score[32];
	char record[STATE_KEY_MAX], due[STATE_KEY_MAX], list[STATE_KEY_MAX];
	struct str keys[3], ids[2];
	unsigned bucket;

	snprintf(user, sizeof(user), "u%zu", i % USERS);
	snprintf(id, sizeof(id), "al_%zu", i);
	ids[0] = str_of(user);
	ids[1] = str_of(id);
	snprintf(json, sizeof(json),
	    "{\"type\":\"alarm\",\"id\":\"%s\",\"user_id\":\"%s\","
	    "\"terminal_id\":\"t1\",\"session_id\":\"s1\",\"text\":\"#%zu "
	    "%lld\",\"zone\":\"UTC\",\"rule\":{\"kind\":\"once\",\"date\":"
	    "\"2026-01-01\",\"at\":\"08:00\"},\"state\":\"set\",\"next_ms\":"
	    "%lld,\"at_ms\":%lld,\"created_ms\":0,\"updated_ms\":0}",
	    id, user, i, (long long)at_ms, (long long)at_ms, (long long)at_ms);
	snprintf(member, sizeof(member), "a:%s:%s", user, id);
	snprintf(score, sizeof(score), "%lld", (long long)at_ms);
	ck_assert_int_eq(state_bucket(ids[0], &bucket), RC_OK);
	ck_assert_int_eq(state_key(record, KEY_ALARM, ids, 2, &keys[0]), RC_OK);
	ck_assert_int_eq(
	    state_key(list, KEY_USER_ALARMS, ids, 1, &keys[1]), RC_OK);
	ck_assert_int_eq(
	    state_bucket_key(due, KEY_ALARMS_DUE, bucket, &keys[2]), RC_OK);
	ck_assert_int_eq(
	    state_pipe_cmd(p,
		STATE_ARGS(STR("HSET"), keys[0], STR("v"), STR(ALARM_FORMAT),
		    STR("ver"), STR("1"), STR("json"), str_of(json))),
	    RC_OK);
	ck_assert_int_eq(
	    state_pipe_cmd(
		p, STATE_ARGS(STR("ZADD"), keys[1], str_of(score), ids[1])),
	    RC_OK);
	ck_assert_int_eq(state_pipe_cmd(p,
			     STATE_ARGS(STR("ZADD"), keys[2], str_of(score),
				 str_of(member))),
	    RC_OK);
}

static void
alarms_put(int64_t first_ms)
{
	struct state_pipe *p = state_pipe_new(f.state.s, 3UL * BATCH);
	size_t i, k;

	for (i = 0; i < n_alarms; i += BATCH) {
		for (k = i; k < i + BATCH && k < n_alarms; k++)
			alarm_queue(p, k,
			    first_ms + (int64_t)(k * WINDOW_MS / n_alarms));
		ck_assert_int_eq(state_pipe_run(p), RC_OK);
	}
	state_pipe_free(p);
}

/* Bare Redis: as many records are stored and removed; seconds. */
static double
bare_redis(void)
{
	struct state_pipe *p = state_pipe_new(f.state.s, 2UL * BATCH);
	double began = tk_now_ns();
	char key[32];
	size_t i, k;

	for (i = 0; i < n_alarms; i += BATCH) {
		for (k = i; k < i + BATCH && k < n_alarms; k++) {
			snprintf(key, sizeof(key), "bare:%zu", k);
			ck_assert_int_eq(
			    state_pipe_cmd(p,
				STATE_ARGS(STR("HSET"), str_of(key),
				    STR("json"), STR("{}"))),
			    RC_OK);
			ck_assert_int_eq(
			    state_pipe_cmd(
				p, STATE_ARGS(STR("DEL"), str_of(key))),
			    RC_OK);
		}
		ck_assert_int_eq(state_pipe_run(p), RC_OK);
	}
	state_pipe_free(p);
	return (tk_now_ns() - began) / 1e9;
}

TEST_T(alarms_of_one_minute, 900)
{
	const char *text = getenv("ALARMS");
	natsSubscription *sub;
	double cpu;

	n_alarms = text != NULL ? strtoul(text, NULL, 10) : ALARMS;
	handed.times = mem_zalloc(n_alarms);
	handed.lag_ms = mem_zalloc(n_alarms * sizeof(*handed.lag_ms));
	ac_start(&f);
	ac_orchestrator_stop(&f.orch);
	ac_orchestrator_start(&f.orch, f.nats.url);
	natsSubscription_Destroy(f.orch.sub);
	f.orch.sub = NULL;
	ck_assert_int_eq(natsConnection_QueueSubscribe(&sub, f.orch.nc,
			     "soul.rpc.turn.start", "llm-orchestrator",
			     handed_on_turn, NULL),
	    NATS_OK);
	printf("bare Redis: %zu records stored and removed in %.1f s\n",
	    n_alarms, bare_redis());
	alarms_put(clock_wall().ms + FIRST_MS);
	cpu = tk_cpu_us(f.clock[0].proc.pid);
	(void)tk_until(handed_all, NULL, FIRST_MS + WINDOW_MS + 300000);
	tk_sort(handed.lag_ms, handed.n);
	printf("alarms due in a minute: %zu, handed over: %zu, doubled: %zu\n"
	       "lag: p50 %.0f ms, p99 %.0f ms, most %.0f ms; alarm-clock "
	       "used %.1f s of a core\n",
	    n_alarms, handed.n, handed.doubled,
	    handed.n > 0 ? handed.lag_ms[handed.n / 2] : -1,
	    handed.n > 0 ? handed.lag_ms[handed.n * 99 / 100] : -1,
	    handed.n > 0 ? handed.lag_ms[handed.n - 1] : -1,
	    (tk_cpu_us(f.clock[0].proc.pid) - cpu) / 1e6);
	tk_print_load();
	ck_assert_uint_eq(handed.n, n_alarms);
	ck_assert_uint_eq(handed.doubled, 0);
	natsSubscription_Destroy(sub);
	ac_stop(&f);
	free(handed.times);
	free(handed.lag_ms);
}
