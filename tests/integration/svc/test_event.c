/*
 * Events: into the stream once, whatever happens on the way.
 *
 * A toy service in a forked process sends what it is told over HTTP; the stream
 * is looked at with a bare NATS client.
 */
#include <jansson.h>
#include <math.h>
#include <nats/nats.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/mem.h"
#include "kit/kit.h"
#include "kit/kit_http.h"
#include "svc/event.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

#define STREAM  "SOUL_EVENTS"
#define WAIT_MS 20000

/* ---- the toy ------------------------------------------------------------- */

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

/* Events until one is refused: that one's result. */
static enum rc
fill(struct svc *s, struct svc_event *e)
{
	enum rc rc = RC_OK;
	int n;

	for (n = 0; rc == RC_OK; n++)
		rc = svc_event_send(s, e);
	return n == 1025 ? rc : RC_BUG;
}

static enum rc
emit(struct svc *s, struct str how)
{
	static const struct wire_terminal_online online = {
		.terminal_id = STR_INIT("灯 1"),
		.broker = STR_INIT("main"),
		.online = true,
	};
	static const struct wire_terminal_online nobody = { 0 };
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
		e.payload = &nobody;
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
	else if (str_eq(how, STR("plain")))
		e.trace = NULL;
	else if (str_eq(how, STR("short"))) {
		svc_event(s, e.type, e.key, e.desc, e.payload, e.trace);
		svc_event(s, e.type, e.key, e.desc, &nobody, e.trace);
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

/* ---- running it ---------------------------------------------------------- */

struct running {
	struct kit_server nats;
	int http, admin;
	pid_t pid;
	int status;
	natsConnection *nc;
	jsCtx *js;
	uint64_t want; /* messages */
};

static void
put_addr(const char *name, int port)
{
	char text[64];

	snprintf(text, sizeof(text), "127.0.0.1:%d", port);
	setenv(name, text, 1);
}

static bool
is_open(void *arg)
{
	struct running *r = arg;

	return kit_port_open(r->http);
}

static bool
is_ended(void *arg)
{
	struct running *r = arg;

	return waitpid(r->pid, &r->status, WNOHANG) == r->pid;
}

static void
look(struct running *r)
{
	ck_assert_int_eq(
	    natsConnection_ConnectTo(&r->nc, r->nats.url), NATS_OK);
	ck_assert_int_eq(
	    natsConnection_JetStream(&r->js, r->nc, NULL), NATS_OK);
}

static void
look_away(struct running *r)
{
	jsCtx_Destroy(r->js);
	natsConnection_Destroy(r->nc);
}

static void
toy_run(struct running *r)
{
	char name[] = "toy";
	char *argv[] = { name, NULL };

	memset(r, 0, sizeof(*r));
	kit_server_start(&r->nats, KIT_NATS);
	r->http = kit_port();
	r->admin = kit_port();
	setenv("NATS_URL", r->nats.url, 1);
	setenv("DRAIN_TIMEOUT_MS", "10000", 1);
	/* Threads are slow to make under sanitizers. */
	setenv("HTTP_WORKERS", "20", 1);
	put_addr("HTTP_ADDR", r->http);
	put_addr("ADMIN_ADDR", r->admin);
	r->pid = fork();
	if (r->pid == 0)
		exit(svc_main(&def, 1, argv));
	ck_assert(kit_until(is_open, r, WAIT_MS));
	look(r);
}

static void
toy_end(struct running *r)
{
	kill(r->pid, SIGTERM);
	ck_assert(kit_until(is_ended, r, WAIT_MS));
	ck_assert_msg(WIFEXITED(r->status) && WEXITSTATUS(r->status) == 0,
	    "status %x", (unsigned)r->status);
}

static void
say(struct running *r, const char *what, const char *answer)
{
	struct kit_answer a = { 0 };
	char body[64], want[64];

	snprintf(body, sizeof(body), "{\"error\":\"%s\"}", what);
	snprintf(want, sizeof(want), "\"%s\"", answer);
	ck_assert_int_eq(kit_http_call(r->http, &a,
			     "POST /call HTTP/1.1\r\nHost: x\r\nConnection: "
			     "close\r\nContent-Length: %zu\r\n\r\n%s",
			     strlen(body), body),
	    200);
	ck_assert_msg(
	    kit_answer_has(&a, want), "%s: %s", what, buf_str(&a.body).p);
	kit_answer_free(&a);
}

static bool
has(void *arg)
{
	struct running *r = arg;
	jsStreamInfo *si = NULL;
	bool yes;

	if (js_GetStreamInfo(&si, r->js, STREAM, NULL, NULL) != NATS_OK)
		return false;
	yes = si->State.Msgs == r->want;
	jsStreamInfo_Destroy(si);
	return yes;
}

static void
ck_stored(struct running *r, uint64_t n)
{
	r->want = n;
	ck_assert(kit_until(has, r, WAIT_MS));
}

static natsMsg *
stored(struct running *r, uint64_t seq)
{
	natsMsg *m = NULL;

	ck_assert_int_eq(
	    js_GetMsg(&m, r->js, STREAM, seq, NULL, NULL), NATS_OK);
	return m;
}

/* One event was stored and one given up, and the service has noticed. */
static bool
one_each(void *arg)
{
	struct running *r = arg;
	struct kit_answer a = { 0 };
	bool yes;

	ck_assert_int_eq(kit_http_call(r->admin, &a,
			     "GET /metrics HTTP/1.1\r\nHost: x\r\n"
			     "Connection: close\r\n\r\n"),
	    200);
	yes = kit_answer_has(&a, "svc_events_stored_total 1\n") &&
	    kit_answer_has(&a, "svc_events_lost_total 1\n");
	kit_answer_free(&a);
	return yes;
}

/* ---- tests --------------------------------------------------------------- */

KIT_TEST(an_event_in_its_envelope)
{
	const char *trace, *type, *source, *id, *header;
	double now, at;
	struct running r;
	json_t *v;
	natsMsg *m;
	int online;

	toy_run(&r);
	say(&r, "new", "ok");
	ck_stored(&r, 1);
	m = stored(&r, 1);
	ck_assert_str_eq(
	    natsMsg_GetSubject(m), "soul.event.terminal_online.~54GvIDE");
	v = json_loadb(
	    natsMsg_GetData(m), (size_t)natsMsg_GetDataLength(m), 0, NULL);
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

	say(&r, "psyche", "ok");
	say(&r, "plain", "ok");
	ck_stored(&r, 3);
	m = stored(&r, 2);
	v = json_loadb(
	    natsMsg_GetData(m), (size_t)natsMsg_GetDataLength(m), 0, NULL);
	ck_assert_int_eq(
	    json_unpack(v, "{s:{s:{s:F !}}}", "meta", "psyche_state", "p", &at),
	    0);
	ck_assert(at < -0.4 && at > -0.6);
	json_decref(v);
	natsMsg_Destroy(m);
	toy_end(&r);
	look_away(&r);
}

KIT_TEST(the_stream_is_made_as_it_should_be)
{
	struct running r;
	jsStreamInfo *si;

	toy_run(&r);
	say(&r, "new", "ok");
	ck_stored(&r, 1);
	ck_assert_int_eq(
	    js_GetStreamInfo(&si, r.js, STREAM, NULL, NULL), NATS_OK);
	ck_assert_int_eq(si->Config->SubjectsLen, 1);
	ck_assert_str_eq(si->Config->Subjects[0], "soul.event.*.*");
	ck_assert_int_eq(si->Config->Storage, js_FileStorage);
	ck_assert_int_eq(si->Config->Retention, js_LimitsPolicy);
	ck_assert_int_eq(si->Config->MaxAge, 7LL * 86400 * 1000000000);
	ck_assert_int_eq(si->Config->MaxBytes, 1LL << 30);
	ck_assert_int_eq(si->Config->Duplicates, 120LL * 1000000000);
	jsStreamInfo_Destroy(si);
	toy_end(&r);
	look_away(&r);
}

KIT_TEST(the_same_event_is_stored_once)
{
	const char *id;
	struct running r;
	natsMsg *m;

	toy_run(&r);
	say(&r, "same", "ok");
	ck_stored(&r, 1);
	say(&r, "same", "ok");
	say(&r, "new", "ok");
	say(&r, "same", "ok");
	ck_stored(&r, 2);
	m = stored(&r, 1);
	ck_assert_int_eq(natsMsgHeader_Get(m, "Nats-Msg-Id", &id), NATS_OK);
	ck_assert_str_eq(id, "terminal_online.~cmVxdWVzdCAx");
	natsMsg_Destroy(m);
	toy_end(&r);
	look_away(&r);
}

KIT_TEST(what_is_not_an_event_is_refused)
{
	struct running r;

	toy_run(&r);
	say(&r, "bad", rc_name(RC_INVALID));
	say(&r, "psyche-bad", rc_name(RC_INVALID));
	say(&r, "key", rc_name(RC_INVALID));
	say(&r, "id", rc_name(RC_INVALID));
	say(&r, "type", rc_name(RC_BUG));
	say(&r, "desc", rc_name(RC_BUG));
	say(&r, "short", "ok"); /* one of its two is bad */
	ck_stored(&r, 1);
	ck_assert(kit_until(one_each, &r, WAIT_MS));
	toy_end(&r);
	look_away(&r);
}

KIT_TEST_T(events_outlive_an_outage, 60)
{
	struct running r;

	toy_run(&r);
	say(&r, "new", "ok");
	ck_stored(&r, 1);
	look_away(&r);
	kit_server_stop(&r.nats, SIGKILL);
	say(&r, "same", "ok");
	say(&r, "new", "ok");
	say(&r, "same", "ok");
	kit_server_restart(&r.nats);
	look(&r);
	ck_stored(&r, 3);
	toy_end(&r);
	look_away(&r);
}

KIT_TEST_T(how_many_are_on_their_way, 60)
{
	struct running r;

	toy_run(&r);
	look_away(&r);
	kit_server_stop(&r.nats, SIGKILL);
	say(&r, "fill", rc_name(RC_AGAIN));
	say(&r, "new", rc_name(RC_AGAIN));
	kit_server_restart(&r.nats);
	look(&r);
	ck_stored(&r, 1024);
	toy_end(&r);
	look_away(&r);
}

KIT_TEST_T(a_drain_waits_for_events, 60)
{
	struct running r;

	toy_run(&r);
	say(&r, "fill", rc_name(RC_AGAIN));
	toy_end(&r);
	ck_stored(&r, 1024);
	look_away(&r);
}

KIT_TEST_T(a_drain_waits_for_no_dead_server, 60)
{
	struct running r;

	toy_run(&r);
	look_away(&r);
	kit_server_stop(&r.nats, SIGKILL);
	say(&r, "new", "ok");
	toy_end(&r);
}
