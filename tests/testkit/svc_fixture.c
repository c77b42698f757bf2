#include "testkit/svc_fixture.h"

/* What the forked process runs. */
struct svc_fixture_child {
	const struct svc_def *def;
	const struct tk_env *env;
};

static int
svc_fixture_main(void *arg)
{
	const struct svc_fixture_child *c = arg;
	char name[] = "toy";
	char *argv[] = { name, NULL };
	size_t i;

	/* The first of two equal names counts. */
	for (i = c->env->n; i-- > 0;)
		putenv((char *)(uintptr_t)c->env->v[i]);
	return svc_main(c->def, 1, argv);
}

void
svc_fixture_fork(struct svc_fixture *r, const struct svc_def *def,
    const char *nats_url, const char *const more[])
{
	struct tk_env e = { 0 };
	struct svc_fixture_child c = { def, &e };

	tk_service_ports(&r->toy, &e);
	tk_env_list(&e, more);
	tk_env_put(&e, "NATS_URL=%s", nats_url);
	/* Creating threads is slow under sanitizers. */
	tk_env_put(&e, "HTTP_WORKERS=24");
	tk_fork(&r->toy.proc, "toy", svc_fixture_main, &c);
}

bool
svc_fixture_is_open(void *arg)
{
	struct svc_fixture *r = arg;

	return tk_port_open(r->toy.http);
}

void
svc_fixture_begin(
    struct svc_fixture *r, const struct svc_def *def, const char *const more[])
{
	*r = (struct svc_fixture){ 0 };
	tk_server_start(&r->nats, TK_NATS);
	svc_fixture_fork(r, def, r->nats.url, more);
	ck_assert(tk_until(svc_fixture_is_open, r, SVC_FIXTURE_MS));
}

void
svc_fixture_start(struct svc_fixture *r, const struct svc_def *def)
{
	svc_fixture_begin(r, def, NULL);
	tk_service_wait(&r->toy);
	r->nc = tk_nats_connect(r->nats.url);
}

void
svc_fixture_expect_exit(struct svc_fixture *r, int status)
{
	ck_assert_int_eq(tk_wait(&r->toy.proc, SVC_FIXTURE_MS), status);
}

void
svc_fixture_stop(struct svc_fixture *r)
{
	natsConnection_Destroy(r->nc);
	nats_Close();
	tk_service_end(&r->toy);
}

void
svc_fixture_post(const struct svc_fixture *r, struct tk_http *c,
    const char *path, const char *text)
{
	char body[128];

	snprintf(body, sizeof(body), "{\"error\":\"%s\"}", text);
	tk_http_begin(c, r->toy.http, "POST", path, body);
}

int
svc_fixture_call(const struct svc_fixture *r, struct tk_response *a,
    const char *path, const char *text)
{
	struct tk_http c = { 0 };

	svc_fixture_post(r, &c, path, text);
	if (!tk_http_read(&c, a, SVC_FIXTURE_MS))
		a->status = 0;
	tk_http_close(&c);
	return a->status;
}

bool
svc_fixture_has_metric(const struct svc_fixture *r, const char *line)
{
	struct tk_response a = { 0 };
	bool is = tk_service_get(&r->toy, &a, "/metrics") == 200 &&
	    tk_response_has(&a, line);

	tk_response_free(&a);
	return is;
}

void
svc_fixture_request(
    const struct svc_fixture *r, const struct svc_fixture_request *q)
{
	const char *body = q->body != NULL ? q->body : "";
	struct tk_response a = { 0 };
	int status = tk_http_call(r->toy.http, &a,
	    "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s%s%s"
	    "Content-Length: %zu\r\n\r\n%s",
	    q->method, q->path,
	    q->token != NULL ? "Authorization: Bearer " : "",
	    q->token != NULL ? q->token : "", q->token != NULL ? "\r\n" : "",
	    strlen(body), body);

	ck_assert_msg(status == q->status, "%s %s %s by %s: %d %s", q->method,
	    q->path, body, q->token != NULL ? q->token : "no token", status,
	    a.body.p);
	ck_assert_msg(tk_response_has(&a, q->text), "%s %s by %s: %s",
	    q->method, q->path, q->token != NULL ? q->token : "no token",
	    a.body.p);
	tk_response_free(&a);
}
