/*
 * What a handler gets of a call and its caller of the replies, over NATS and
 * HTTP alike.  A toy service does what the text of the request says.
 */
#include "core/buf.h"
#include "core/mem.h"
#include "testkit/json.h"
#include "testkit/svc_fixture.h"
#include "wire/msgs.h"

#define SLOW_MS  60000
#define QUICK_MS 2000

/* ---- the toy ---- */

static void *
toy_start(struct svc *s, const void *conf)
{
	(void)conf;
	return s;
}

/* Some partial replies, one of which breaks its schema. */
static void
several(struct svc_call *c)
{
	static const char *const words[] = { "one", "two", "", "three" };
	struct wire_error msg = { 0 };
	size_t i;

	for (i = 0; i < NELEM(words); i++) {
		msg.error = str_of(words[i]);
		svc_progress(c, &msg);
	}
	msg.error = STR("last");
	svc_reply(c, &msg);
}

/* What the handler gets of its call. */
static void
report(struct svc_call *c)
{
	char text[64];
	struct wire_error msg = { .trace_id =
				      str_of(svc_call_trace(c)->trace_id) };

	snprintf(
	    text, sizeof(text), "%lld", (long long)svc_call_deadline(c).ms);
	msg.error = str_of(text);
	svc_reply(c, &msg);
}

static void
on_call(void *app, struct svc_call *c)
{
	const struct wire_error *req = svc_call_request(c);

	(void)app;
	if (str_eq(req->error, STR("several")))
		several(c);
	else if (str_eq(req->error, STR("busy")))
		svc_fail_as(c, &(struct svc_error){ 429, "busy", "not now" });
	else if (str_eq(req->error, STR("bad gateway")))
		svc_fail_as(c, &(struct svc_error){ 502, "llm", "no answer" });
	else if (str_eq(req->error, STR("fail")))
		svc_fail(c, RC_NOENT, "none");
	else
		report(c);
}

/* A reply of some MiB. */
static void
on_long(void *app, struct svc_call *c)
{
	static const char text[50000] = { [0 ... 49999] = 'x' };
	struct wire_session_messages rep = {
		.user_id = STR("u"), .session_id = STR("s"), .n_items = 60
	};
	size_t i;

	(void)app;
	rep.items =
	    arena_alloc(svc_call_arena(c), rep.n_items * sizeof(*rep.items));
	for (i = 0; i < rep.n_items; i++) {
		rep.items[i].content = (struct str){ text, sizeof(text) };
		rep.items[i].created_at = STR("2026-02-22T10:20:30Z");
	}
	svc_reply(c, &rep);
}

static const struct svc_text texts[] = {
	{ "", "invalid json" },
	{ "/error", "error is required" },
};
#define CALL(n, ms)                                                            \
	{                                                                      \
		.name = n, .subject = "toy." n, .method = "POST",              \
		.path = "/" n, .request = &wire_error_desc,                    \
		.reply = &wire_error_desc, .fn = on_call, .deadline_ms = (ms), \
		.texts = texts, .ntexts = NELEM(texts)                         \
	}
static const struct svc_route routes[] = {
	CALL("slow", SLOW_MS),
	CALL("quick", QUICK_MS),
	{ .name = "long",
	    .subject = "toy.long",
	    .method = "GET",
	    .path = "/long",
	    .reply = &wire_session_messages_desc,
	    .fn = on_long,
	    .deadline_ms = QUICK_MS },
};
static const struct svc_def def = {
	.name = "toy",
	.summary = "replies what the request says",
	.http_addr = "127.0.0.1:1",
	.admin_addr = "127.0.0.1:1",
	.conf_size = 1,
	.routes = routes,
	.nroutes = NELEM(routes),
	.start = toy_start,
};

/* ---- a plain client ---- */

/* One reply over NATS. */
struct reply {
	natsMsg *m;
	const char *rc, *status; /* of its headers, or "" */
	const char *text;
};

static void
reply_read(struct reply *p)
{
	if (natsMsgHeader_Get(p->m, "Nats-Service-Error", &p->rc) != NATS_OK)
		p->rc = "";
	if (natsMsgHeader_Get(p->m, "Nats-Service-Error-Code", &p->status) !=
	    NATS_OK)
		p->status = "";
	p->text = natsMsg_GetData(p->m);
}

static void
request(struct svc_fixture *r, struct reply *p, const char *subject,
    const char *text)
{
	char body[128];

	snprintf(body, sizeof(body), "{\"error\":\"%s\"}", text);
	ck_assert_int_eq(natsConnection_RequestString(
			     &p->m, r->nc, subject, body, SVC_FIXTURE_MS),
	    NATS_OK);
	reply_read(p);
}

static const char *
member(json_t *j, const char *name)
{
	return json_string_value(json_object_get(j, name));
}

/* ---- tests ---- */

TEST(a_call_may_have_partial_replies)
{
	static const char *const want[] = { "one", "two", "three", "last" };
	natsSubscription *sub = NULL;
	char text[64], inbox[64];
	struct reply p;
	struct svc_fixture r;
	size_t i;

	svc_fixture_start(&r, &def);
	snprintf(inbox, sizeof(inbox), "toy_test.inbox.1");
	ck_assert_int_eq(
	    natsConnection_SubscribeSync(&sub, r.nc, inbox), NATS_OK);
	ck_assert_int_eq(natsConnection_PublishRequestString(r.nc, "toy.quick",
			     inbox, "{\"error\":\"several\"}"),
	    NATS_OK);
	for (i = 0; i < NELEM(want); i++) {
		ck_assert_int_eq(
		    natsSubscription_NextMsg(&p.m, sub, SVC_FIXTURE_MS),
		    NATS_OK);
		reply_read(&p);
		snprintf(text, sizeof(text), "{\"error\":\"%s\"}", want[i]);
		ck_assert_str_eq(p.text, text);
		ck_assert_str_eq(p.rc, "");
		natsMsg_Destroy(p.m);
	}
	/* A request without a reply subject gets none, which is no error. */
	ck_assert_int_eq(natsConnection_PublishString(
			     r.nc, "toy.quick", "{\"error\":\"several\"}"),
	    NATS_OK);
	request(&r, &p, "toy.quick", "fail");
	natsMsg_Destroy(p.m);
	ck_assert(svc_fixture_has_metric(
	    &r, "soul_requests_total{route=\"quick\",code=\"ok\"} 2\n"));
	natsSubscription_Destroy(sub);
	svc_fixture_stop(&r);
}

TEST(over_http_only_the_last_reply_counts)
{
	struct tk_response a = { 0 };
	struct svc_fixture r;

	svc_fixture_start(&r, &def);
	ck_assert_int_eq(svc_fixture_call(&r, &a, "/quick", "several"), 200);
	ck_assert_str_eq(a.body.p, "{\"error\":\"last\"}");
	tk_response_free(&a);
	svc_fixture_stop(&r);
}

TEST(errors_are_the_same_both_ways)
{
	static const struct {
		const char *how, *rc, *header, *error, *code;
		int status;
	} rows[] = {
		{ "fail", "not_found", "404", "none", "not_found", 404 },
		{ "bad gateway", "unavailable", "503", "no answer", "llm",
		    502 },
		{ "busy", "overloaded", "503", "not now", "busy", 429 },
	};
	struct tk_response a = { 0 };
	struct reply p;
	struct svc_fixture r;
	size_t i;
	json_t *j;

	svc_fixture_start(&r, &def);
	for (i = 0; i < NELEM(rows); i++) {
		request(&r, &p, "toy.quick", rows[i].how);
		ck_assert_str_eq(p.rc, rows[i].rc);
		ck_assert_str_eq(p.status, rows[i].header);
		j = tk_nats_json(p.m);
		ck_assert_str_eq(member(j, "error"), rows[i].error);
		ck_assert_str_eq(member(j, "code"), rows[i].code);
		json_decref(j);
		natsMsg_Destroy(p.m);
		ck_assert_int_eq(
		    svc_fixture_call(&r, &a, "/quick", rows[i].how),
		    rows[i].status);
		j = tk_json(a.body.p, a.body.n);
		ck_assert_str_eq(member(j, "error"), rows[i].error);
		ck_assert_str_eq(member(j, "code"), rows[i].code);
		json_decref(j);
	}
	tk_response_free(&a);
	svc_fixture_stop(&r);
}

static void
post(struct svc_fixture *r, struct tk_response *a, const char *body)
{
	tk_http_call(r->toy.http, a,
	    "POST /quick HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
	    "Content-Length: %zu\r\n\r\n%s",
	    strlen(body), body);
}

/* The protocol's text for what is missing, ours for what is invalid. */
TEST(prescribed_texts_are_used)
{
	static const struct {
		const char *body, *text;
	} rows[] = {
		{ "", "\"invalid json\"" },
		{ "[1]", "\"invalid json\"" },
		{ "{\"error\":\"x\"}}", "\"invalid json\"" },
		{ "{}", "\"error is required\"" },
		{ "{\"error\":\"\"}", "\"error is required\"" },
		{ "{\"code\":7}", "\"error is required\"" },
		{ "{\"code\":7,\"error\":\"x\"}",
		    "\"/code: must be a string\"" },
		{ "{\"error\":7}", "\"/error: must be a string\"" },
	};
	struct buf many = BUF_INIT(1024 * 1024);
	struct tk_response a = { 0 };
	struct svc_fixture r;
	natsMsg *m;
	size_t i;

	svc_fixture_start(&r, &def);
	for (i = 0; i < NELEM(rows); i++) {
		post(&r, &a, rows[i].body);
		ck_assert_int_eq(a.status, 400);
		ck_assert_msg(
		    tk_response_has(&a, rows[i].text), "%s", a.body.p);
		ck_assert_int_eq(natsConnection_RequestString(&m, r.nc,
				     "toy.quick", rows[i].body, SVC_FIXTURE_MS),
		    NATS_OK);
		ck_assert_ptr_nonnull(strstr(natsMsg_GetData(m), rows[i].text));
		natsMsg_Destroy(m);
	}
	/* Valid JSON, only too large. */
	buf_putc(&many, '[');
	for (i = 0; i < 70000; i++)
		buf_puts(&many, "[],");
	buf_puts(&many, "[]]");
	post(&r, &a, many.p);
	ck_assert_int_eq(a.status, 413);
	ck_assert(tk_response_has(&a, "too many objects and arrays"));
	tk_response_free(&a);
	buf_free(&many);
	svc_fixture_stop(&r);
}

/* The deadline in a reply must be this far from now. */
static void
reported_deadline(const char *text, size_t n, int64_t before, int64_t ms)
{
	json_t *j = tk_json(text, n);
	int64_t reported = strtoll(member(j, "error"), NULL, 10);

	ck_assert_int_ge(reported, before + ms);
	ck_assert_int_le(reported, clock_wall().ms + ms);
	json_decref(j);
}

TEST(a_call_has_the_deadline_of_its_route)
{
	static const struct {
		const char *subject, *path;
		int64_t ms;
	} rows[] = { { "toy.slow", "/slow", SLOW_MS },
		{ "toy.quick", "/quick", QUICK_MS } };
	struct tk_response a = { 0 };
	struct reply p;
	struct svc_fixture r;
	int64_t before;
	size_t i;

	svc_fixture_start(&r, &def);
	for (i = 0; i < NELEM(rows); i++) {
		before = clock_wall().ms;
		request(&r, &p, rows[i].subject, "tell");
		reported_deadline(p.text, (size_t)natsMsg_GetDataLength(p.m),
		    before, rows[i].ms);
		natsMsg_Destroy(p.m);
		before = clock_wall().ms;
		ck_assert_int_eq(
		    svc_fixture_call(&r, &a, rows[i].path, "tell"), 200);
		reported_deadline(a.body.p, a.body.n, before, rows[i].ms);
	}
	tk_response_free(&a);
	svc_fixture_stop(&r);
}

static void
request_by(struct svc_fixture *r, struct reply *p, int64_t deadline)
{
	natsMsg *m = NULL;
	char text[32];
	static const char body[] = "{\"error\":\"tell\"}";

	snprintf(text, sizeof(text), "%lld", (long long)deadline);
	ck_assert_int_eq(
	    natsMsg_Create(&m, "toy.quick", NULL, body, (int)sizeof(body) - 1),
	    NATS_OK);
	natsMsgHeader_Set(m, "Soul-Deadline", text);
	natsMsgHeader_Set(m, "traceparent",
	    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
	ck_assert_int_eq(
	    natsConnection_RequestMsg(&p->m, r->nc, m, SVC_FIXTURE_MS),
	    NATS_OK);
	reply_read(p);
	natsMsg_Destroy(m);
}

/* The caller's own deadline and trace; nothing begins after it. */
TEST(a_call_has_its_callers_deadline_and_trace)
{
	int64_t by = clock_wall().ms + 123456;
	char want[128];
	struct reply p;
	struct svc_fixture r;

	svc_fixture_start(&r, &def);
	request_by(&r, &p, by);
	snprintf(want, sizeof(want),
	    "{\"error\":\"%lld\","
	    "\"trace_id\":\"0af7651916cd43dd8448eb211c80319c\"}",
	    (long long)by);
	ck_assert_str_eq(p.text, want);
	natsMsg_Destroy(p.m);
	request_by(&r, &p, clock_wall().ms - 1000);
	ck_assert_str_eq(p.rc, "deadline_exceeded");
	ck_assert_str_eq(p.status, "504");
	natsMsg_Destroy(p.m);
	ck_assert(svc_fixture_has_metric(
	    &r, "soul_requests_total{route=\"quick\",code=\"ok\"} 1\n"));
	svc_fixture_stop(&r);
}

static void
put_large(struct buf *b)
{
	buf_puts(b, "{\"error\":\"tell\",\"trace_id\":\"x\",\"more\":[[]");
	for (int i = 1; i < 60000; i++)
		buf_puts(b, ",[]");
	buf_puts(b, "]}");
}

/* Whether it is served before a large request that came first. */
static bool
is_small_first(
    struct svc_fixture *r, natsSubscription *replies, const char *large)
{
	static const char small[] = "{\"error\":\"tell\"}";
	natsMsg *m[2];
	ck_assert(!natsConnection_PublishRequestString(
	    r->nc, "toy.quick", "answer.large", large));
	ck_assert(!natsConnection_PublishRequestString(
	    r->nc, "toy.quick", "answer.small", small));
	for (size_t i = 0; i < NELEM(m); i++)
		ck_assert(
		    !natsSubscription_NextMsg(&m[i], replies, SVC_FIXTURE_MS));
	bool is = strcmp(natsMsg_GetSubject(m[0]), "answer.small") == 0;
	natsMsg_Destroy(m[0]);
	natsMsg_Destroy(m[1]);
	return is;
}

/* A request that takes long to decode does not delay the others. */
TEST(a_large_request_does_not_delay_others)
{
	struct buf large = BUF_INIT(1024 * 1024);
	struct tk_response a = { 0 };
	natsSubscription *replies;
	struct svc_fixture r;
	int tries = 0;

	svc_fixture_start(&r, &def);
	put_large(&large);
	buf_putc(&large, '\0');
	ck_assert(!natsConnection_SubscribeSync(&replies, r.nc, "answer.*"));
	while (!is_small_first(&r, replies, large.p))
		ck_assert_int_lt(++tries, 10);
	natsSubscription_Destroy(replies);
	large.p[large.n - 2] = '\0';
	ck_assert_int_eq(
	    tk_http_request(r.toy.http, &a, "POST", "/quick", large.p), 400);
	ck_assert(tk_response_has(&a, "invalid json"));
	tk_response_free(&a);
	buf_free(&large);
	svc_fixture_stop(&r);
}

/* It fits HTTP, but not a message of NATS: the caller gets an error. */
TEST(a_response_over_http_may_be_large)
{
	struct tk_response a = { 0 };
	struct reply p;
	struct svc_fixture r;
	json_t *j;

	svc_fixture_start(&r, &def);
	ck_assert_int_eq(
	    tk_http_request(r.toy.http, &a, "GET", "/long", NULL), 200);
	ck_assert_uint_gt(a.body.n, 60 * 50000);
	j = tk_json(a.body.p, a.body.n);
	ck_assert_uint_eq(json_array_size(json_object_get(j, "items")), 60);
	json_decref(j);
	ck_assert_int_eq(natsConnection_RequestString(
			     &p.m, r.nc, "toy.long", "", SVC_FIXTURE_MS),
	    NATS_OK);
	reply_read(&p);
	ck_assert_str_eq(p.rc, "internal");
	natsMsg_Destroy(p.m);
	tk_response_free(&a);
	svc_fixture_stop(&r);
}

/* Discovery counts the calls over NATS, and their errors. */
TEST(discovery_counts_calls)
{
	struct reply p;
	struct svc_fixture r;
	natsMsg *m = NULL;
	json_t *j, *e;

	svc_fixture_start(&r, &def);
	request(&r, &p, "toy.slow", "tell");
	natsMsg_Destroy(p.m);
	request(&r, &p, "toy.slow", "busy");
	natsMsg_Destroy(p.m);
	ck_assert_int_eq(natsConnection_RequestString(
			     &m, r.nc, "$SRV.STATS.toy", "", SVC_FIXTURE_MS),
	    NATS_OK);
	j = tk_nats_json(m);
	e = json_array_get(json_object_get(j, "endpoints"), 0);
	ck_assert_str_eq(member(e, "name"), "slow");
	ck_assert_int_eq(
	    json_integer_value(json_object_get(e, "num_requests")), 2);
	ck_assert_int_eq(
	    json_integer_value(json_object_get(e, "num_errors")), 1);
	ck_assert_str_eq(member(e, "last_error"), "not now");
	json_decref(j);
	natsMsg_Destroy(m);
	svc_fixture_stop(&r);
}
