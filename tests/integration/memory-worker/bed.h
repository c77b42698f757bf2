/*
 * bed: nats-server, Redis with souls and sessions in it, the simulated language
 * model, memory-workers, and plain peers of theirs.
 */
#ifndef BED_H
#define BED_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "state/memory.h"
#include "state/session.h"
#include "state/soul.h"
#include "testkit/json.h"
#include "testkit/nats.h"
#include "testkit/service.h"
#include "testkit/state.h"

#define BED_MS  60000
#define WORKERS 3
#define MORE    6

struct bed {
	struct tk_server nats, redis;
	struct tk_service worker[WORKERS];
	struct tk_service llm;
	char llm_url[64];
	const char *more[MORE]; /* variables of the workers; NULL: no more */
	natsConnection *nc;
	struct tk_state db;
};

static inline void
bed_soul(struct bed *b, const char *id, const char *user)
{
	struct soul soul = { .id = str_of(id),
		.user_id = str_of(user),
		.name = str_of(id),
		.mbti_type = STR("INFP"),
		.model = STR("persona-pad-v2"),
		.created = clock_wall() };

	ck_assert_int_eq(soul_create(b->db.s, &soul, STR("")), RC_OK);
}

/* Servers, a soul s1 of the user u1, and room for a model. */
static inline void
bed_servers(struct bed *b)
{
	*b = (struct bed){ 0 };
	tk_server_start(&b->nats, TK_NATS);
	tk_server_start(&b->redis, TK_REDIS);
	b->nc = tk_nats_connect(b->nats.url);
	tk_state_open(&b->db, b->redis.url);
	bed_soul(b, "s1", "u1");
	b->llm.http = tk_port();
	b->llm.admin = tk_port();
	snprintf(b->llm_url, sizeof(b->llm_url), "http://127.0.0.1:%d/v1",
	    b->llm.http);
}

/* ---- programs --------------------------------------------------------------
 */

static inline void
bed_llm(struct bed *b)
{
	struct tk_env e = { 0 };

	tk_env_put(&e, "NATS_URL=%s", b->nats.url);
	tk_service_start(&b->llm, "llm-sim", "llm-sim", &e);
}

/* What the model shall do wrong next; list is JSON without its brackets. */
static inline void
bed_faults(struct bed *b, const char *list)
{
	struct tk_answer a = { 0 };
	char body[1024];
	int n = snprintf(body, sizeof(body), "{\"faults\":[%s]}", list);

	ck_assert_int_lt(n, (int)sizeof(body));
	ck_assert_int_eq(
	    tk_http_ask(b->llm.http, &a, "POST", "/sim/script", body), 200);
	tk_answer_free(&a);
}

/* How often the model was asked. */
static inline long long
bed_asked(struct bed *b)
{
	return tk_service_metric(
	    &b->llm, "soul_requests_total{route=\"chat\",code=\"ok\"}");
}

static inline void
bed_spawn(struct bed *b, int i)
{
	struct tk_env e = { 0 };
	char name[32];
	size_t k;

	tk_env_put(&e, "NATS_URL=%s", b->nats.url);
	tk_env_put(&e, "REDIS_URL=%s", b->redis.url);
	tk_env_put(&e, "OPENAI_BASE_URL=%s", b->llm_url);
	tk_env_list(&e,
	    TK_ENV("REDIS_TIMEOUT_MS=5000",
		"IDLE_SUMMARY_SCAN_INTERVAL_SECONDS=0.05",
		"IDLE_SUMMARY_RETRY_SECONDS=0.1"));
	for (k = 0; k < MORE && b->more[k] != NULL; k++)
		tk_env_put(&e, "%s", b->more[k]);
	snprintf(name, sizeof(name), "worker-%d", i);
	tk_service_spawn(&b->worker[i], "memory-worker", name, &e);
}

static inline bool
streams_there(void *arg)
{
	struct bed *b = arg;
	static const char *const what[] = { "STREAM.INFO.SOUL_DEAD",
		"CONSUMER.INFO.SOUL_JOBS.memory-worker" };
	char subject[96], code[64];
	bool there = true;
	size_t i;

	for (i = 0; i < NELEM(what) && there; i++) {
		snprintf(subject, sizeof(subject), "$JS.API.%s", what[i]);
		json_t *j = tk_nats_ask(b->nc, subject, "", code);
		there = json_object_get(j, "config") != NULL;
		json_decref(j);
	}
	return there;
}

/* Wait until worker i works, and with it the streams. */
static inline void
bed_ready(struct bed *b, int i)
{
	tk_service_wait(&b->worker[i]);
	ck_assert(tk_until(streams_there, b, BED_MS));
}

/* All servers and that many workers. */
static inline void
bed_start(struct bed *b, int workers)
{
	int i;

	bed_servers(b);
	bed_llm(b);
	for (i = 0; i < workers; i++)
		bed_spawn(b, i);
	for (i = 0; i < workers; i++)
		bed_ready(b, i);
}

/* All programs must drain and end in peace. */
static inline void
bed_stop(struct bed *b)
{
	int i;

	for (i = 0; i < WORKERS; i++)
		tk_service_end(&b->worker[i]);
	tk_service_end(&b->llm);
	natsConnection_Destroy(b->nc);
	tk_state_close(&b->db);
	nats_Close();
}

#endif /* !BED_H */
