/*
 * Events: stored in the stream without repetition, whatever happens meanwhile.
 * A toy service in a forked process sends what it gets over HTTP; a bare NATS
 * client reads the stream.
 */
#include <math.h>
#include <time.h>

#include "core/mem.h"
#include "svc/event.h"
#include "testkit/json.h"
#include "testkit/svc_fixture.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

#define STREAM  "SOUL_EVENTS"
#define WAIT_MS 20000

/* ---- the toy ---- */

static const char trace_id[] = "0af7651916cd43dd8448eb211c80319c";

struct toy {
	struct svc *s;
};

static void *
toy_start(struct svc *s, const void *conf)
{
	struct toy *t = mem_zalloc(sizeof(*t));

	(void)conf;
	t->s = s;
	return t;
}

#define SOME 1024

static enum rc
send_some(struct svc *s, struct svc_event *e)
{
	enum rc rc = RC_OK;
	int n;

	for (n = 0; rc == RC_OK && n < SOME; n++)
		rc = svc_event_send(s, e);
	return rc;
}

/* Events until one is rejected: its result. */
static enum rc
fill(struct svc *s, struct svc_event *e)
{
	enum rc rc = RC_OK;
	int n;

	for (n = 0; rc == RC_OK; n++)
		rc = svc_event_send(s, e);
	return n == 32769 ? rc : RC_BUG;
}

static enum rc
emit(struct svc *s, struct str how)
{
	static const struct wire_terminal_online online = {
		.terminal_id = STR_INIT("灯 1"),
		.broker = STR_INIT("main"),
		.online = true,
	};
	static const struct wire_terminal_online empty = { 0 };
	struct trace trace = { .span_id = "b7ad6b7169203331", .flags = 1 };
	struct svc_event e = {
		.type = WIRE_EVENT_TERMINAL_ONLINE,
		.key = STR("灯 1"),
		.desc = &wire_terminal_online_desc,
		.payload = &online,
		.trace = &trace,
	};

	memcpy(trace.trace_id, trace_id, sizeof(trace.trace_id));
	if (str_eq(how, STR("same")))
		e.id = STR("request 1");
	else if (str_eq(how, STR("psyche")))
		e.psyche_state = STR("{\"p\":-0.5}");
	else if (str_eq(how, STR("bad")))
		e.payload = &empty;
	else if (str_eq(how, STR("psyche-bad")))
		e.psyche_state = STR("[1]");
	else if (str_eq(how, STR("type")))
		e.type = "no_such_event";
	else if (str_eq(how, STR("desc")))
		e.desc = &wire_error_desc;
	else if (str_eq(how, STR("key")))
		e.key = STR("");
	else if (str_eq(how, STR("id")))
		e.id = STR("a\nb");
	else if (str_eq(how, STR("fill")))
		return fill(s, &e);
	else if (str_eq(how, STR("some")))
		return send_some(s, &e);
	else if (str_eq(how, STR("store")))
		return svc_event_store(s, &e);
	else if (str_eq(how, STR("plain")))
		e.trace = NULL;
	else if (str_eq(how, STR("short"))) {
		svc_event(s, e.type, e.key, e.desc, e.payload, e.trace);
		svc_event(s, e.type, e.key, e.desc, &empty, e.trace);
		return RC_OK;
	}
	return svc_event_send(s, &e);
}

static void
on_call(void *arg, struct svc_call *c)
{
	struct toy *t = arg;
	const struct wire_error *req = svc_call_request(c);
	struct wire_error reply = { .error = str_of(
					rc_name(emit(t->s, req->error))) };

	svc_reply(c, &reply);
}

static const struct svc_route routes[] = {
	{ .name = "call",
	    .method = "POST",
	    .path = "/call",
	    .request = &wire_error_desc,
	    .reply = &wire_error_desc,
	    .fn = on_call,
	    .deadline_ms = 5000 },
};
static const struct svc_def def = {
	.name = "toy",
	.summary = "sends events",
	.http_addr = "127.0.0.1:1",
	.admin_addr = "127.0.0.1:1",
	.conf_size = 1,
	.routes = routes,
	.nroutes = NELEM(routes),
	.start = toy_start,
	.stop = free,
};

/* ---- running it ---- */

struct observer {
	struct svc_fixture r;
	jsCtx *js;
	uint64_t want; /* messages */
};

static void
attach(struct observer *t)
{
	t->r.nc = tk_nats_connect(t->r.nats.url);
	ck_assert_int_eq(
	    natsConnection_JetStream(&t->js, t->r.nc, NULL), NATS_OK);
}

static void
detach(struct observer *t)
{
	jsCtx_Destroy(t->js);
	natsConnection_Destroy(t->r.nc);
	t->r.nc = NULL;
}

static void
toy_run(struct observer *t)
{
	svc_fixture_begin(&t->r, &def, TK_ENV("DRAIN_TIMEOUT_MS=10000"));
	attach(t);
}

static void
toy_end(struct observer *t)
{
	tk_service_end(&t->r.toy);
}

static void
post(struct observer *t, const char *what, const char *answer)
{
	struct tk_response a = { 0 };
	char want[64];

	snprintf(want, sizeof(want), "\"%s\"", answer);
	ck_assert_int_eq(svc_fixture_call(&t->r, &a, "/call", what), 200);
	ck_assert_msg(
	    tk_response_has(&a, want), "%s: %s", what, buf_str(&a.body).p);
	tk_response_free(&a);
}

static bool
has(void *arg)
{
	struct observer *t = arg;
	jsStreamInfo *si = NULL;
	bool yes;

	if (js_GetStreamInfo(&si, t->js, STREAM, NULL, NULL) != NATS_OK)
		return false;
	yes = si->State.Msgs == t->want;
	jsStreamInfo_Destroy(si);
	return yes;
}

static void
ck_stored(struct observer *t, uint64_t n)
{
	t->want = n;
	ck_assert(tk_until(has, t, WAIT_MS));
}

static natsMsg *
stored(struct observer *t, uint64_t seq)
{
	natsMsg *m = NULL;

	ck_assert_int_eq(
	    js_GetMsg(&m, t->js, STREAM, seq, NULL, NULL), NATS_OK);
	return m;
}

/* One event was stored and one lost, and the metrics say so. */
static bool
one_each(void *arg)
{
	struct observer *t = arg;

	return svc_fixture_has_metric(&t->r, "svc_events_stored_total 1\n") &&
	    svc_fixture_has_metric(&t->r, "svc_events_lost_total 1\n");
}

/* ---- tests ---- */

TEST(an_event_has_its_envelope)
{
	const char *trace, *type, *source, *id, *header;
	double now, at;
	struct observer t;
	json_t *v;
	natsMsg *m;
	int online;

	toy_run(&t);
	post(&t, "new", "ok");
	ck_stored(&t, 1);
	m = stored(&t, 1);
	ck_assert_str_eq(
	    natsMsg_GetSubject(m), "soul.event.terminal_online.~54GvIDE");
	v = tk_nats_json(m);
	ck_assert_int_eq(
	    json_unpack(v, "{s:s,s:s,s:s,s:{s:s,s:b,s:s !},s:{s:F !} !}",
		"trace_id", &trace, "type", &type, "source", &source, "payload",
		"terminal_id", &id, "online", &online, "broker", &header,
		"meta", "timestamp", &at),
	    0);
	ck_assert_str_eq(trace, "0af76519-16cd-43dd-8448-eb211c80319c");
	ck_assert_str_eq(type, "terminal_online");
	ck_assert_str_eq(source, "toy");
	ck_assert_str_eq(id, "灯 1");
	ck_assert(online);
	now = (double)time(NULL);
	ck_assert(fabs(now - at) < 60);
	ck_assert_int_eq(natsMsgHeader_Get(m, "traceparent", &header), NATS_OK);
	ck_assert_ptr_nonnull(strstr(header, trace_id));
	ck_assert_int_eq(natsMsgHeader_Get(m, "Nats-Msg-Id", &header), NATS_OK);
	ck_assert_uint_eq(strlen(header), 36);
	json_decref(v);
	natsMsg_Destroy(m);

	post(&t, "psyche", "ok");
	post(&t, "plain", "ok");
	ck_stored(&t, 3);
	m = stored(&t, 2);
	v = tk_nats_json(m);
	ck_assert_int_eq(
	    json_unpack(v, "{s:{s:{s:F !}}}", "meta", "psyche_state", "p", &at),
	    0);
	ck_assert(at < -0.4 && at > -0.6);
	json_decref(v);
	natsMsg_Destroy(m);
	toy_end(&t);
	detach(&t);
}

TEST(the_stream_has_the_right_configuration)
{
	struct observer t;
	jsStreamInfo *si;

	toy_run(&t);
	post(&t, "new", "ok");
	ck_stored(&t, 1);
	ck_assert_int_eq(
	    js_GetStreamInfo(&si, t.js, STREAM, NULL, NULL), NATS_OK);
	ck_assert_int_eq(si->Config->SubjectsLen, 1);
	ck_assert_str_eq(si->Config->Subjects[0], "soul.event.*.*");
	ck_assert_int_eq(si->Config->Storage, js_FileStorage);
	ck_assert_int_eq(si->Config->Retention, js_LimitsPolicy);
	ck_assert_int_eq(si->Config->MaxAge, 7LL * 86400 * 1000000000);
	ck_assert_int_eq(si->Config->MaxBytes, 1LL << 30);
	ck_assert_int_eq(si->Config->Duplicates, 120LL * 1000000000);
	jsStreamInfo_Destroy(si);
	toy_end(&t);
	detach(&t);
}

TEST(the_same_event_is_not_stored_twice)
{
	const char *id;
	struct observer t;
	natsMsg *m;

	toy_run(&t);
	post(&t, "same", "ok");
	ck_stored(&t, 1);
	post(&t, "same", "ok");
	post(&t, "new", "ok");
	post(&t, "same", "ok");
	ck_stored(&t, 2);
	m = stored(&t, 1);
	ck_assert_int_eq(natsMsgHeader_Get(m, "Nats-Msg-Id", &id), NATS_OK);
	ck_assert_str_eq(id, "terminal_online.~cmVxdWVzdCAx");
	natsMsg_Destroy(m);
	toy_end(&t);
	detach(&t);
}

TEST(what_is_not_an_event_is_rejected)
{
	struct observer t;

	toy_run(&t);
	post(&t, "bad", rc_name(RC_INVALID));
	post(&t, "psyche-bad", rc_name(RC_INVALID));
	post(&t, "key", rc_name(RC_INVALID));
	post(&t, "id", rc_name(RC_INVALID));
	post(&t, "type", rc_name(RC_BUG));
	post(&t, "desc", rc_name(RC_BUG));
	post(&t, "short", "ok"); /* one of its two is bad */
	ck_stored(&t, 1);
	ck_assert(tk_until(one_each, &t, WAIT_MS));
	toy_end(&t);
	detach(&t);
}

/* The process may die at once. */
TEST(a_stored_event_is_in_the_stream_when_its_sender_goes_on)
{
	struct observer t;

	toy_run(&t);
	for (t.want = 1; t.want <= 20; t.want++) {
		post(&t, "store", "ok");
		ck_assert(has(&t));
	}
	tk_service_kill(&t.r.toy);
	t.want = 20;
	ck_assert(has(&t));
	detach(&t);
}

TEST_T(events_outlive_an_outage, 60)
{
	struct observer t;

	toy_run(&t);
	post(&t, "new", "ok");
	ck_stored(&t, 1);
	detach(&t);
	tk_server_stop(&t.r.nats, SIGKILL);
	post(&t, "same", "ok");
	post(&t, "new", "ok");
	post(&t, "same", "ok");
	tk_server_restart(&t.r.nats);
	attach(&t);
	ck_stored(&t, 3);
	toy_end(&t);
	detach(&t);
}

TEST_T(how_many_are_on_their_way, 60)
{
	struct observer t;

	toy_run(&t);
	detach(&t);
	tk_server_stop(&t.r.nats, SIGKILL);
	post(&t, "fill", rc_name(RC_RETRY));
	post(&t, "new", rc_name(RC_RETRY));
	tk_server_restart(&t.r.nats);
	attach(&t);
	ck_stored(&t, 32768);
	toy_end(&t);
	detach(&t);
}

static bool
has_published(void *arg)
{
	struct observer *t = arg;

	return tk_service_metric(&t->r.toy, "soul_bus_published_total") >=
	    (long long)t->want;
}

/* Not all of them, time and again. */
TEST_T(a_stream_that_fails_gets_one_event_at_a_time, 60)
{
	struct observer t;
	long long n;

	toy_run(&t);
	post(&t, "new", "ok");
	ck_stored(&t, 1);
	ck_assert_int_eq(js_DeleteStream(t.js, STREAM, NULL, NULL), NATS_OK);
	n = tk_service_metric(&t.r.toy, "soul_bus_published_total");
	post(&t, "some", "ok");
	t.want = (uint64_t)n + SOME + 8;
	ck_assert(tk_until(has_published, &t, WAIT_MS));
	tk_nats_events(t.r.nc);
	ck_stored(&t, SOME);
	n = tk_service_metric(&t.r.toy, "soul_bus_published_total") - n;
	ck_assert_int_lt(n, 2 * SOME + 100);
	ck_assert(svc_fixture_has_metric(&t.r, "svc_events_lost_total 0\n"));
	toy_end(&t);
	detach(&t);
}

TEST_T(a_drain_waits_for_events, 60)
{
	struct observer t;

	toy_run(&t);
	post(&t, "some", "ok");
	toy_end(&t);
	ck_stored(&t, SOME);
	detach(&t);
}

TEST_T(a_drain_waits_for_no_dead_server, 60)
{
	struct observer t;

	toy_run(&t);
	detach(&t);
	tk_server_stop(&t.r.nats, SIGKILL);
	post(&t, "new", "ok");
	toy_end(&t);
}

TEST(a_lone_server_with_replicas_ends_the_start)
{
	struct svc_fixture r = { 0 };

	/* It may end before its port is seen to be open. */
	tk_server_start(&r.nats, TK_NATS);
	svc_fixture_fork(&r, &def, r.nats.url, TK_ENV("NATS_REPLICAS=3"));
	ck_assert_int_eq(tk_wait(&r.toy.proc, SVC_FIXTURE_MS), 78);
	ck_assert(tk_log_has(&r.toy.proc, "svc.no_replicas"));
	ck_assert(tk_log_has(&r.toy.proc, "needs a cluster"));
}

TEST(an_even_number_of_replicas_is_rejected)
{
	struct svc_fixture r = { 0 };

	svc_fixture_fork(
	    &r, &def, "nats://127.0.0.1:1", TK_ENV("NATS_REPLICAS=2"));
	ck_assert_int_eq(tk_wait(&r.toy.proc, SVC_FIXTURE_MS), 78);
	ck_assert(tk_log_has(&r.toy.proc, "NATS_REPLICAS: use 1, 3 or 5"));
}

struct readyz {
	struct observer *t;
	int status;
	const char *text;
};

static bool
readyz_has(void *arg)
{
	const struct readyz *w = arg;
	struct tk_response a = { 0 };
	bool has = tk_service_get(&w->t->r.toy, &a, "/readyz") == w->status &&
	    tk_response_has(&a, w->text);

	tk_response_free(&a);
	return has;
}

/* Stopped, it stays connected for 10 s, which is longer than an event is
 * retried. */
TEST_T(a_silent_jetstream_is_not_ready, 60)
{
	struct observer t;
	struct readyz silent = { &t, 503,
		"NATS does not answer JetStream requests" };
	struct readyz ready = { &t, 200, "ok" };

	toy_run(&t);
	post(&t, "new", "ok");
	ck_stored(&t, 1);
	ck_assert(tk_until(readyz_has, &ready, WAIT_MS));
	tk_signal(&t.r.nats.proc, SIGSTOP);
	post(&t, "new", "ok");
	ck_assert(tk_until(readyz_has, &silent, WAIT_MS));
	tk_signal(&t.r.nats.proc, SIGCONT);
	ck_assert(tk_until(readyz_has, &ready, WAIT_MS));
	ck_stored(&t, 2);
	toy_end(&t);
	detach(&t);
}
