/*
 * running: a toy service in a forked process, its server, and plain clients of
 * it.
 */
#ifndef RUNNING_H
#define RUNNING_H

#include <nats/nats.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/kit.h"
#include "kit/kit_http.h"
#include "svc/svc.h"

#define RUNNING_MS 20000

struct running {
	struct kit_server nats;
	int http, admin;
	pid_t pid;
	int status; /* of the ended process */
	natsConnection *nc;
};

static inline void
running_put_addr(const char *name, int port)
{
	char text[64];

	snprintf(text, sizeof(text), "127.0.0.1:%d", port);
	setenv(name, text, 1);
}

static inline int
running_get(int port, struct kit_answer *a, const char *path)
{
	return kit_http_call(port, a,
	    "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path);
}

static inline bool
running_ready(void *arg)
{
	struct running *r = arg;
	struct kit_answer a = { 0 };
	bool is = kit_port_open(r->admin) &&
	    running_get(r->admin, &a, "/readyz") == 200;

	kit_answer_free(&a);
	return is;
}

static inline void
running_start(struct running *r, const struct svc_def *def)
{
	char name[] = "toy";
	char *argv[] = { name, NULL };

	*r = (struct running){ 0 };
	kit_server_start(&r->nats, KIT_NATS);
	r->http = kit_port();
	r->admin = kit_port();
	setenv("NATS_URL", r->nats.url, 1);
	/* Threads are slow to make under sanitizers. */
	setenv("HTTP_WORKERS", "24", 1);
	running_put_addr("HTTP_ADDR", r->http);
	running_put_addr("ADMIN_ADDR", r->admin);
	r->pid = fork();
	if (r->pid == 0)
		exit(svc_main(def, 1, argv));
	ck_assert(kit_until(running_ready, r, RUNNING_MS));
	ck_assert_int_eq(
	    natsConnection_ConnectTo(&r->nc, r->nats.url), NATS_OK);
}

static inline bool
running_ended(void *arg)
{
	struct running *r = arg;

	return waitpid(r->pid, &r->status, WNOHANG) == r->pid;
}

static inline void
running_end(struct running *r)
{
	natsConnection_Destroy(r->nc);
	nats_Close();
	kill(r->pid, SIGTERM);
	ck_assert(kit_until(running_ended, r, RUNNING_MS));
	ck_assert_msg(WIFEXITED(r->status) && WEXITSTATUS(r->status) == 0,
	    "status %x", (unsigned)r->status);
}

/* POST {"error": text} on a connection that stays open. */
static inline void
running_post(const struct running *r, struct kit_http *c, const char *path,
    const char *text)
{
	char request[512], body[128];

	snprintf(body, sizeof(body), "{\"error\":\"%s\"}", text);
	snprintf(request, sizeof(request),
	    "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s",
	    path, strlen(body), body);
	kit_http_open(c, r->http);
	ck_assert(kit_http_puts(c, request));
}

/* The same, and the status of its answer. */
static inline int
running_call(const struct running *r, struct kit_answer *a, const char *path,
    const char *text)
{
	struct kit_http c = { 0 };

	running_post(r, &c, path, text);
	if (!kit_http_read(&c, a, RUNNING_MS))
		a->status = 0;
	kit_http_close(&c);
	return a->status;
}

/* Whether the metrics of r have this line. */
static inline bool
running_counts(const struct running *r, const char *line)
{
	struct kit_answer a = { 0 };
	bool is = running_get(r->admin, &a, "/metrics") == 200 &&
	    kit_answer_has(&a, line);

	kit_answer_free(&a);
	return is;
}

#endif /* !RUNNING_H */
