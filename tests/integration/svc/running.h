/*
 * running: a toy service in a forked process, its server, and plain clients of
 * it.
 */
#ifndef RUNNING_H
#define RUNNING_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "svc/svc.h"
#include "testkit/nats.h"
#include "testkit/service.h"

#define RUNNING_MS 20000

struct running {
	struct tk_server nats;
	struct tk_service toy;
	natsConnection *nc; /* NULL: none */
};

/* What the forked process does. */
struct running_child {
	const struct svc_def *def;
	const struct tk_env *env;
};

static inline int
running_main(void *arg)
{
	const struct running_child *c = arg;
	char name[] = "toy";
	char *argv[] = { name, NULL };
	size_t i;

	/* The first of two of one name counts. */
	for (i = c->env->n; i-- > 0;)
		putenv((char *)(uintptr_t)c->env->v[i]);
	return svc_main(c->def, 1, argv);
}

/* Start the toy; more are further variables, NULL: none. */
static inline void
running_fork(struct running *r, const struct svc_def *def, const char *nats_url,
    const char *const more[])
{
	struct tk_env e = { 0 };
	struct running_child c = { def, &e };

	tk_service_ports(&r->toy, &e);
	tk_env_list(&e, more);
	tk_env_put(&e, "NATS_URL=%s", nats_url);
	/* Threads are slow to make under sanitizers. */
	tk_env_put(&e, "HTTP_WORKERS=24");
	tk_fork(&r->toy.proc, "toy", running_main, &c);
}

static inline bool
running_open(void *arg)
{
	struct running *r = arg;

	return tk_port_open(r->toy.http);
}

/* A server and the toy, which listens but need not be ready. */
static inline void
running_begin(
    struct running *r, const struct svc_def *def, const char *const more[])
{
	*r = (struct running){ 0 };
	tk_server_start(&r->nats, TK_NATS);
	running_fork(r, def, r->nats.url, more);
	ck_assert(tk_until(running_open, r, RUNNING_MS));
}

/* The same, and it is ready, and a client of the server is connected. */
static inline void
running_start(struct running *r, const struct svc_def *def)
{
	running_begin(r, def, NULL);
	tk_service_wait(&r->toy);
	r->nc = tk_nats_connect(r->nats.url);
}

/* It must end by itself, or because it was told to, with this status. */
static inline void
running_expect(struct running *r, int status)
{
	ck_assert_int_eq(tk_wait(&r->toy.proc, RUNNING_MS), status);
}

static inline void
running_end(struct running *r)
{
	natsConnection_Destroy(r->nc);
	nats_Close();
	tk_service_end(&r->toy);
}

/* POST {"error": text} on a connection that stays open. */
static inline void
running_post(const struct running *r, struct tk_http *c, const char *path,
    const char *text)
{
	char body[128];

	snprintf(body, sizeof(body), "{\"error\":\"%s\"}", text);
	tk_http_begin(c, r->toy.http, "POST", path, body);
}

/* The same, and the status of its answer. */
static inline int
running_call(const struct running *r, struct tk_response *a, const char *path,
    const char *text)
{
	struct tk_http c = { 0 };

	running_post(r, &c, path, text);
	if (!tk_http_read(&c, a, RUNNING_MS))
		a->status = 0;
	tk_http_close(&c);
	return a->status;
}

/* Whether the metrics of r have this line. */
static inline bool
running_counts(const struct running *r, const char *line)
{
	struct tk_response a = { 0 };
	bool is = tk_service_get(&r->toy, &a, "/metrics") == 200 &&
	    tk_response_has(&a, line);

	tk_response_free(&a);
	return is;
}

#endif /* !RUNNING_H */
