/*
 * bed: nats-server, Redis with souls and sessions in it, the simulated language
 * model, memory-workers, and plain peers of theirs.
 *
 * The loop that the Redis connection needs runs only while a function of the
 * bed waits; between two calls the test may use b->state.
 */
#ifndef BED_H
#define BED_H

#include <jansson.h>
#include <nats/nats.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/worker.h"
#include "kit/kit.h"
#include "kit/kit_http.h"
#include "kit/kit_loop.h"
#include "state/memory.h"
#include "state/session.h"
#include "state/soul.h"
#include "state/state.h"

#define BED_MS  60000
#define WORKERS 3
#define MORE    6

struct program {
	struct kit_proc proc;
	int http, admin;
};

struct bed {
	struct kit_server nats, redis;
	struct program worker[WORKERS];
	struct program llm;
	char llm_url[64];
	const char *more[MORE]; /* variables of the workers; NULL: no more */
	natsConnection *nc;
	struct loop *loop;
	struct worker_pool *workers;
	struct state *state;
	struct arena *arena;
};

static inline bool
bed_state_up(void *arg)
{
	return state_up(arg);
}

static inline void
bed_connect(struct bed *b)
{
	struct state_opts o = {
		.url = b->redis.url, .name = "bed", .deadline_ms = 5000
	};

	ck_assert_int_eq(
	    natsConnection_ConnectTo(&b->nc, b->nats.url), NATS_OK);
	b->loop = loop_new(64);
	b->workers = worker_new(b->loop, 1, 16);
	b->arena = arena_new(64UL * 1024 * 1024);
	o.loop = b->loop;
	o.workers = b->workers;
	ck_assert_int_eq(state_new(&o, &b->state), RC_OK);
	ck_assert(kit_loop_until(b->loop, bed_state_up, b->state, BED_MS));
}

static inline void
bed_soul(struct bed *b, const char *id, const char *user)
{
	struct soul soul = { .id = str_of(id),
		.user_id = str_of(user),
		.name = str_of(id),
		.mbti_type = STR("INFP"),
		.model = STR("persona-pad-v2"),
		.created = clock_wall() };

	ck_assert_int_eq(soul_create(b->state, &soul, STR("")), RC_OK);
}

/* Servers, a soul s1 of the user u1, and room for a model. */
static inline void
bed_servers(struct bed *b)
{
	*b = (struct bed){ 0 };
	kit_server_start(&b->nats, KIT_NATS);
	kit_server_start(&b->redis, KIT_REDIS);
	bed_connect(b);
	bed_soul(b, "s1", "u1");
	b->llm.http = kit_port();
	b->llm.admin = kit_port();
	snprintf(b->llm_url, sizeof(b->llm_url), "http://127.0.0.1:%d/v1",
	    b->llm.http);
}

/* Ask over NATS; *code is the error header's or "". */
static inline json_t *
bed_ask(struct bed *b, const char *subject, const char *body, char code[64])
{
	natsMsg *m = NULL;
	const char *err = NULL;
	json_t *j;

	ck_assert_int_eq(
	    natsConnection_RequestString(&m, b->nc, subject, body, BED_MS),
	    NATS_OK);
	if (natsMsgHeader_Get(m, "Nats-Service-Error", &err) != NATS_OK)
		err = "";
	snprintf(code, 64, "%s", err);
	j = json_loadb(
	    natsMsg_GetData(m), (size_t)natsMsg_GetDataLength(m), 0, NULL);
	ck_assert_ptr_nonnull(j);
	natsMsg_Destroy(m);
	return j;
}

/* ---- programs --------------------------------------------------------------
 */

static inline bool
program_ready(void *arg)
{
	struct program *p = arg;
	struct kit_http c = { 0 };
	struct kit_answer a = { 0 };
	bool is = false;

	if (!kit_port_open(p->admin))
		return false;
	kit_http_open(&c, p->admin);
	if (kit_http_puts(&c, "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n"))
		is = kit_http_read(&c, &a, 2000) && a.status == 200;
	kit_answer_free(&a);
	kit_http_close(&c);
	return is;
}

/* A counter or gauge of a program, or -1; labels as they are written. */
static inline long
program_metric(struct program *p, const char *name)
{
	struct kit_answer a = { 0 };
	char line[160];
	const char *at;
	long v = -1;

	ck_assert_int_eq(kit_http_call(p->admin, &a,
			     "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"),
	    200);
	snprintf(line, sizeof(line), "\n%s ", name);
	at = strstr(a.body.p, line);
	if (at != NULL)
		v = strtol(at + strlen(line), NULL, 10);
	kit_answer_free(&a);
	return v;
}

static inline void
bed_llm(struct bed *b)
{
	char nats[96], http[48], admin[48];
	const char *argv[] = { kit_bin("llm-sim"), NULL };
	const char *env[] = { nats, http, admin, NULL };

	snprintf(nats, sizeof(nats), "NATS_URL=%s", b->nats.url);
	snprintf(http, sizeof(http), "HTTP_ADDR=127.0.0.1:%d", b->llm.http);
	snprintf(admin, sizeof(admin), "ADMIN_ADDR=127.0.0.1:%d", b->llm.admin);
	kit_spawn(&b->llm.proc, "llm-sim", argv, env);
	ck_assert(kit_until(program_ready, &b->llm, BED_MS));
}

/* What the model shall do wrong next; list is JSON without its brackets. */
static inline void
bed_faults(struct bed *b, const char *list)
{
	struct kit_answer a = { 0 };

	ck_assert_int_eq(
	    kit_http_call(b->llm.http, &a,
		"POST /sim/script HTTP/1.1\r\nHost: x\r\n"
		"Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n"
		"{\"faults\":[%s]}",
		strlen(list) + strlen("{\"faults\":[]}"), list),
	    200);
	kit_answer_free(&a);
}

/* How often the model was asked. */
static inline long
bed_asked(struct bed *b)
{
	return program_metric(
	    &b->llm, "soul_requests_total{route=\"chat\",code=\"ok\"}");
}

static inline void
bed_spawn(struct bed *b, int i)
{
	struct program *p = &b->worker[i];
	char name[32], nats[96], redis[96], url[96], admin[48];
	const char *argv[] = { kit_bin("memory-worker"), NULL };
	const char *env[16 + MORE] = { nats, redis, url, admin,
		"REDIS_TIMEOUT_MS=5000",
		"IDLE_SUMMARY_SCAN_INTERVAL_SECONDS=0.05",
		"IDLE_SUMMARY_RETRY_SECONDS=0.1" };
	size_t n = 7, k;

	for (k = 0; k < MORE && b->more[k] != NULL; k++)
		env[n++] = b->more[k];
	if (p->admin == 0)
		p->admin = kit_port();
	snprintf(name, sizeof(name), "worker-%d", i);
	snprintf(nats, sizeof(nats), "NATS_URL=%s", b->nats.url);
	snprintf(redis, sizeof(redis), "REDIS_URL=%s", b->redis.url);
	snprintf(url, sizeof(url), "OPENAI_BASE_URL=%s", b->llm_url);
	snprintf(admin, sizeof(admin), "ADMIN_ADDR=127.0.0.1:%d", p->admin);
	kit_spawn(&p->proc, name, argv, env);
}

static inline bool
streams_there(void *arg)
{
	static const char *const what[] = { "STREAM.INFO.SOUL_DEAD",
		"CONSUMER.INFO.SOUL_JOBS.memory-worker" };
	char subject[96], code[64];
	bool there = true;
	size_t i;

	for (i = 0; i < NELEM(what) && there; i++) {
		snprintf(subject, sizeof(subject), "$JS.API.%s", what[i]);
		json_t *j = bed_ask(arg, subject, "", code);
		there = json_object_get(j, "config") != NULL;
		json_decref(j);
	}
	return there;
}

/* Wait until worker i works, and with it the streams. */
static inline void
bed_ready(struct bed *b, int i)
{
	ck_assert(kit_until(program_ready, &b->worker[i], BED_MS));
	ck_assert(kit_until(streams_there, b, BED_MS));
}

static inline void
program_kill(struct program *p)
{
	kit_signal(&p->proc, SIGKILL);
	ck_assert_int_eq(kit_wait(&p->proc, BED_MS), 128 + SIGKILL);
	p->proc.pid = 0;
}

static inline void
program_stop(struct program *p)
{
	if (p->proc.pid == 0)
		return;
	kit_signal(&p->proc, SIGTERM);
	ck_assert_int_eq(kit_wait(&p->proc, BED_MS), 0);
	p->proc.pid = 0;
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
		program_stop(&b->worker[i]);
	program_stop(&b->llm);
	natsConnection_Destroy(b->nc);
	state_free(b->state);
	worker_free(b->workers);
	loop_free(b->loop);
	arena_free(b->arena);
	nats_Close();
}

#endif /* !BED_H */
