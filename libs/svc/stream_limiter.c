/*
 * stream_limiter: the number of streams of a token, of an address, and of all;
 * and whether the tokens of open streams are still valid.
 *
 * A stream counts until the worker of its connection is free again, not only
 * until its handler has ended it: a reader that takes nothing occupies its
 * worker for longer.  So it is counted on the loop and released on the worker's
 * thread, under a lock.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/fiber.h"
#include "core/log.h"
#include "core/map.h"
#include "core/mem.h"
#include "http/client_address.h"
#include "svc/audit.h"
#include "svc/svc_internal.h"
#include "wire/msgs.h"

/* Parts of a service's connections, for all streams and for one address. */
#define ALL_OF 3 / 4
#define ONE_OF 1 / 4
/*
 * Between checks of tokens: with AUTH_REMEMBER_S less than a minute from a
 * revocation to the end of its streams.
 */
#define CHECK_MS 10000

struct svc_stream_limiter {
	const struct svc *s;
	size_t max, max_of_token, max_of_address; /* 0: no such limit */
	pthread_mutex_t lock;                     /* guards what follows */
	size_t n;
	struct tally *tokens, *addresses;
};

struct counted_stream {
	struct svc_stream_limiter *of;
	uint64_t token;
	char address[CLIENT_ADDR_TEXT_MAX];
};

struct svc_stream_limiter *
svc_stream_limiter_new(const struct svc *s)
{
	struct svc_stream_limiter *p = mem_zalloc(sizeof(*p));
	size_t calls = svc_http_calls(s);

	p->s = s;
	p->max = calls * ALL_OF;
	if (s->access != NULL) {
		p->max_of_token = (size_t)s->conf.streams_per_token;
		p->max_of_address = (size_t)s->conf.streams_per_address;
		if (p->max_of_address == 0)
			p->max_of_address = calls * ONE_OF;
	}
	pthread_mutex_init(&p->lock, NULL);
	p->tokens = tally_new();
	p->addresses = tally_new();
	return p;
}

void
svc_stream_limiter_free(struct svc_stream_limiter *p)
{
	if (p == NULL)
		return;
	tally_free(p->tokens);
	tally_free(p->addresses);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static struct str
stream_token_key(const struct counted_stream *one)
{
	return (struct str){ (const char *)&one->token, sizeof(one->token) };
}

static void
stream_release(void *arg)
{
	struct counted_stream *one = arg;
	struct svc_stream_limiter *p = one->of;

	pthread_mutex_lock(&p->lock);
	p->n--;
	tally_decrement(p->tokens, stream_token_key(one));
	tally_decrement(p->addresses, str_of(one->address));
	pthread_mutex_unlock(&p->lock);
	free(one);
}

static const struct svc_error stream_limit_all = { 503, "overloaded",
	"too many streams at once" };
static const struct svc_error stream_limit_token = { 429, "too_many_streams",
	"too many streams with this token at a time; end one of them first" };
static const struct svc_error stream_limit_address = { 429, "too_many_streams",
	"too many streams of this address at a time; end one of them first" };

/* NULL: it is counted. */
static const struct svc_error *
stream_take(struct svc_stream_limiter *p, const struct counted_stream *one)
{
	const struct svc_error *why = NULL;

	pthread_mutex_lock(&p->lock);
	if (p->n + 1 > p->max)
		why = &stream_limit_all;
	else if (p->max_of_token > 0 &&
	    tally_count(p->tokens, stream_token_key(one)) >= p->max_of_token)
		why = &stream_limit_token;
	else if (p->max_of_address > 0 &&
	    tally_count(p->addresses, str_of(one->address)) >=
		p->max_of_address)
		why = &stream_limit_address;
	if (why == NULL) {
		p->n++;
		tally_increment(p->tokens, stream_token_key(one));
		tally_increment(p->addresses, str_of(one->address));
	}
	pthread_mutex_unlock(&p->lock);
	return why;
}

bool
svc_stream_admit(struct svc_call *c)
{
	struct svc_stream_limiter *p = c->endpoint->svc->stream_limiter;
	struct counted_stream *one = mem_zalloc(sizeof(*one));
	const struct svc_error *why;

	one->of = p;
	one->token = c->authenticated ? c->caller.key : 0;
	str_copy(svc_call_address(c), one->address, sizeof(one->address));
	why = stream_take(p, one);
	if (why != NULL) {
		free(one);
		svc_fail_as(c, why);
		return false;
	}
	httpd_on_end(c->http, stream_release, one);
	return true;
}

/* ---- tokens of open streams ---- */

/* A check that may outlive its call. */
struct stream_check {
	struct svc_call *call; /* NULL: it ended */
	struct auth *auth;
};

void
svc_stream_check_forget(struct svc_call *c)
{
	if (c->check != NULL)
		c->check->call = NULL;
	c->check = NULL;
}

static void
stream_on_checked(
    void *arg, enum rc rc, const struct auth_caller *who, const char *why)
{
	struct stream_check *w = arg;
	struct svc_call *c = w->call;

	(void)who;
	free(w);
	if (c == NULL)
		return;
	c->check = NULL;
	/* A check that failed is no reason to close the stream. */
	if (rc != RC_DENIED)
		return;
	log_trace_set(c->trace.trace_id);
	log_info("auth.stream_closed", LOG_S("route", c->endpoint->route->name),
	    LOG_V("address", svc_call_address(c)), LOG_S("why", why));
	svc_audit_call(c,
	    &(struct wire_audit){ .action = WIRE_AUDIT_ACTION_LOGIN_REFUSED,
		.route = str_of(c->endpoint->route->name),
		.reason = STR("stream_cut") });
	log_trace_set("");
	httpd_stream_abort(c->http);
}

static void
stream_check_start(void *arg)
{
	struct stream_check *w = arg;

	auth_check(
	    w->auth, svc_access_bearer(w->call->http), stream_on_checked, w);
}

static void
stream_check_run(void *arg)
{
	struct svc_access *a = arg;
	struct svc_call *c, *next;

	for (c = TAILQ_FIRST(&a->svc->open); c != NULL; c = next) {
		next = TAILQ_NEXT(c, link);
		if (!c->authenticated || !c->streaming || c->check != NULL)
			continue;
		c->check = mem_zalloc(sizeof(*c->check));
		c->check->call = c;
		c->check->auth = a->auth;
		fiber_start(stream_check_start, c->check);
	}
	svc_stream_check_start(a);
}

void
svc_stream_check_start(struct svc_access *a)
{
	loop_timer_set(a->svc->loop, &a->recheck,
	    mono_add_ms(clock_mono(), CHECK_MS), stream_check_run, a);
}

void
svc_stream_check_stop(struct svc_access *a)
{
	loop_timer_cancel(a->svc->loop, &a->recheck);
}
