#include "testkit/httpc_fixture.h"

void
httpc_fixture_on_done(void *arg, struct httpc_call *call, enum rc rc,
    const struct httpc_response *response)
{
	struct httpc_fixture_call *g = arg;

	g->rc = rc;
	g->times++;
	g->status = response->status;
	if (response->body.n > 0)
		buf_put_str(&g->body, response->body);
	str_copy(httpc_header(call, "content-type"), g->type, sizeof(g->type));
	str_copy(str_of(response->why), g->why, sizeof(g->why));
	g->retry_after_ms = response->retry_after_ms;
	g->end = clock_mono();
	g->done = true;
}

void
httpc_fixture_call_init(
    struct httpc_fixture_call *g, struct httpc *c, const char *url)
{
	memset(g, 0, sizeof(*g));
	g->start = clock_mono();
	g->c = c;
	buf_init(&g->body, 64 * 1024 * 1024);
	g->rq = (struct httpc_request){ .method = "GET",
		.url = url,
		.deadline = { clock_wall().ms + HTTPC_FIXTURE_MS },
		.on_done = httpc_fixture_on_done,
		.arg = g };
}

void
httpc_fixture_call_start(void *arg)
{
	struct httpc_fixture_call *g = arg;

	g->started = httpc_start(g->c, &g->rq, &g->call);
}

bool
httpc_fixture_call_is_done(void *arg)
{
	return ((struct httpc_fixture_call *)arg)->done;
}

int64_t
httpc_fixture_call_ms(const struct httpc_fixture_call *g)
{
	return mono_diff_ms(g->end, g->start);
}

void
httpc_fixture_free_client(void *arg)
{
	struct httpc_fixture *s = arg;

	httpc_free(s->c);
	s->c = NULL;
}

static void
httpc_fixture_read_counts(void *arg)
{
	struct httpc_fixture *s = arg;

	s->active = httpc_active(s->c);
	s->queued = httpc_queued(s->c);
}

void
httpc_fixture_check_counts(
    struct httpc_fixture *s, size_t active, size_t queued)
{
	tk_loop_call(&s->k, httpc_fixture_read_counts, s);
	ck_assert_uint_eq(s->active, active);
	ck_assert_uint_eq(s->queued, queued);
}

void
httpc_fixture_open(
    struct httpc_fixture *s, raw_server_fn fn, struct httpc_opts o)
{
	raw_server_open(&s->p, fn);
	snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%d/x", s->p.port);
	tk_loop_new(&s->k, 1024);
	o.loop = s->k.l;
	o.peer = "test";
	s->c = httpc_new(&o);
	tk_loop_start(&s->k);
}

void
httpc_fixture_close(struct httpc_fixture *s)
{
	tk_loop_call(&s->k, httpc_fixture_free_client, s);
	tk_loop_stop(&s->k);
	loop_free(s->k.l);
	raw_server_close(&s->p);
}

void
httpc_fixture_run(struct httpc_fixture *s, struct httpc_fixture_call *g)
{
	tk_loop_call(&s->k, httpc_fixture_call_start, g);
	ck_assert_msg(g->started == RC_OK, "%s", rc_name(g->started));
	ck_assert(
	    tk_until(httpc_fixture_call_is_done, g, HTTPC_FIXTURE_MS + 2000));
	/* A second end would be reported by now. */
	tk_loop_call(&s->k, NULL, NULL);
	ck_assert_int_eq(g->times, 1);
}
