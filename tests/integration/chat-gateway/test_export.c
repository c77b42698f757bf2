/*
 * Exports: complete or recognizably truncated, at the client's pace.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "core/clock.h"
#include "core/mem.h"
#include "state/session.h"
#include "testkit/gateway_fixture.h"

#define PATH "/v1/memories/export?user_id=ann"

/* A parsed export. */
struct export_result {
	size_t memories, profiles;
	char first[64], last[64]; /* ids */
	json_t *end, *error;
};

static void
parse_export(struct str body, struct export_result *t)
{
	struct str line;
	json_t *j, *m;

	*t = (struct export_result){ 0 };
	ck_assert(str_ends(body, STR("\n")));
	body.n--;
	while (body.p != NULL) {
		/* These are the last line. */
		ck_assert(t->end == NULL && t->error == NULL);
		line = str_split(&body, '\n');
		j = tk_json(line.p, line.n);
		ck_assert_uint_eq(json_object_size(j), 1);
		m = json_object_get(j, "memory");
		if (m != NULL && t->memories++ == 0)
			snprintf(t->first, sizeof(t->first), "%s",
			    tk_text(m, "memory_id"));
		if (m != NULL)
			snprintf(t->last, sizeof(t->last), "%s",
			    tk_text(m, "memory_id"));
		t->profiles += json_object_get(j, "profile") != NULL;
		t->end = json_incref(json_object_get(j, "end"));
		t->error = json_incref(json_object_get(j, "error"));
		json_decref(j);
	}
}

static void
export_result_free(struct export_result *t)
{
	json_decref(t->end);
	json_decref(t->error);
}

static void
put_memories(
    struct gateway_memory_fixture *r, const char *soul, const char *text, int n)
{
	int i;
	char id[16];

	for (i = 0; i < n; i++) {
		snprintf(id, sizeof(id), "m%05d", i);
		gw_put_memory(r, "ann", soul, id, text, 1000 + i);
	}
}

/* More than the socket buffers of a client that does not read: 4 MiB. */
static void
put_large_memories(struct gateway_memory_fixture *r, const char *soul)
{
	static char text[4000];

	memset(text, 'x', sizeof(text) - 1);
	put_memories(r, soul, text, 2500);
}

static void
put_session(struct gateway_memory_fixture *r, const char *id, int n)
{
	const struct session_key k = { STR("ann"), str_of(id) };
	char json[256];
	int i;

	ck_assert_int_eq(
	    session_user_input(r->b.db.s, &k, STR("s1"), STR("t1"), 600000),
	    RC_OK);
	for (i = 0; i < n; i++) {
		snprintf(json, sizeof(json),
		    "{\"role\":\"user\",\"content\":\"%s %d\","
		    "\"created_at\":\"2026-02-22T10:20:30Z\"}",
		    id, i);
		ck_assert_int_eq(
		    session_append(r->b.db.s, &k,
			&(struct str){ json, strlen(json) }, 1, NULL),
		    RC_OK);
	}
}

/* Messages of a session in the lines of an export, in their order. */
static int
count_messages(struct str body, const char *session)
{
	json_t *j, *m, *message;
	char want[64];
	struct str line;
	int n = 0;
	size_t i;

	while (body.n > 0) {
		line = str_split(&body, '\n');
		j = tk_json(line.p, line.n);
		m = json_object_get(j, "session");
		if (m != NULL && strcmp(tk_text(m, "session_id"), session) == 0)
			json_array_foreach (tk_at(m, "items"), i, message) {
				snprintf(
				    want, sizeof(want), "%s %d", session, n++);
				ck_assert_str_eq(
				    tk_text(message, "content"), want);
			}
		json_decref(j);
	}
	return n;
}

TEST(conversations_and_souls_are_exported)
{
	char soul[GW_SOUL_ID], path[256];
	struct gateway_memory_fixture r;
	struct tk_response a = { 0 };
	struct export_result t;

	gw_memory_start(&r);
	gw_soul(&r.b, "ann", "friendly", soul);
	put_session(&r, "short", 2);
	put_session(&r, "long", 1200); /* several lines */
	put_session(&r, "empty", 0);
	ck_assert_int_eq(gw_request(&r.b, &a, "GET", PATH, NULL), 200);
	parse_export(buf_str(&a.body), &t);
	export_result_free(&t);
	ck_assert_int_eq(count_messages(buf_str(&a.body), "short"), 2);
	ck_assert_int_eq(count_messages(buf_str(&a.body), "long"), 1200);
	snprintf(path, sizeof(path), "{\"soul\":{\"soul_id\":\"%s\"", soul);
	ck_assert_int_ge(str_find(buf_str(&a.body), str_of(path)), 0);
	/* Another user's export has none of them. */
	ck_assert_int_eq(gw_request(&r.b, &a, "GET",
			     "/v1/memories/export?user_id=bob", NULL),
	    200);
	ck_assert_int_lt(str_find(buf_str(&a.body), STR("\"session\"")), 0);
	ck_assert_int_lt(str_find(buf_str(&a.body), STR("\"soul\"")), 0);
	tk_response_free(&a);
	gw_memory_stop(&r);
}

TEST(small_exports_are_complete)
{
	struct tk_response a = { 0 };
	char soul[GW_SOUL_ID], path[256], type[64];
	struct gateway_memory_fixture r;
	struct export_result t;

	gw_memory_start(&r);
	/* A user without data. */
	ck_assert_int_eq(gw_request(&r.b, &a, "GET", PATH, NULL), 200);
	ck_assert_str_eq(
	    tk_response_field(&a, "Content-Type", type, sizeof(type)),
	    "application/x-ndjson");
	parse_export(buf_str(&a.body), &t);
	ck_assert_uint_eq(t.memories, 0);
	ck_assert_uint_eq(t.profiles, 1);
	ck_assert_int_eq(tk_int(t.end, "memories"), 0);
	export_result_free(&t);

	gw_soul(&r.b, "ann", "friendly", soul);
	gw_put_memory(&r, "ann", soul, "m1", "a\nb", 1000);
	gw_put_memory(&r, "ann", soul, "m2", "x", 2000);
	gw_ok(&r.b, "PATCH", "/v1/users/ann/profile",
	    "{\"user_profile\":{\"name\":\"Ann\"}}");
	ck_assert_int_eq(gw_request(&r.b, &a, "GET", PATH, NULL), 200);
	ck_assert(str_starts(buf_str(&a.body),
	    STR("{\"profile\":{\"user_id\":\"ann\",\"user_profile\":{\"name\":"
		"\"Ann\"}")));
	parse_export(buf_str(&a.body), &t);
	ck_assert_str_eq(t.first, "m1");
	ck_assert_str_eq(t.last, "m2");
	ck_assert_int_eq(tk_int(t.end, "memories"), 2);
	ck_assert(json_is_false(tk_at(t.end, "degraded")));
	export_result_free(&t);
	/* Of one soul: without the profile. */
	snprintf(path, sizeof(path), PATH "&soul_id=%s", soul);
	ck_assert_int_eq(gw_request(&r.b, &a, "GET", path, NULL), 200);
	parse_export(buf_str(&a.body), &t);
	ck_assert_uint_eq(t.profiles, 0);
	ck_assert_uint_eq(t.memories, 2);
	export_result_free(&t);
	tk_response_free(&a);
	gw_memory_stop(&r);
}

TEST_T(ten_thousand_memories_are_exported, 120)
{
	struct tk_response a = { 0 };
	char soul[GW_SOUL_ID];
	struct gateway_memory_fixture r;
	struct mono start;
	struct tk_http c;
	struct export_result t;

	gw_memory_start(&r);
	gw_soul(&r.b, "ann", "friendly", soul);
	put_memories(&r, soul,
	    "用户每天早上八点左右在公园跑步，下雨天改在家里练瑜伽。", 10000);
	start = clock_mono();
	gw_send(&r.b, &c, "GET", PATH, NULL);
	ck_assert(tk_http_read(&c, &a, 60000));
	tk_http_close(&c);
	fprintf(stderr, "10000 memories in %lld ms\n",
	    (long long)mono_diff_ms(clock_mono(), start));
	ck_assert_int_eq(a.status, 200);
	parse_export(buf_str(&a.body), &t);
	ck_assert_uint_eq(t.memories, 10000);
	ck_assert_str_eq(t.first, "m00000");
	ck_assert_str_eq(t.last, "m09999");
	ck_assert_int_eq(tk_int(t.end, "memories"), 10000);
	export_result_free(&t);
	tk_response_free(&a);
	gw_memory_stop(&r);
}

/* The event of an incomplete export. */
static void
check_truncation_audit(natsSubscription *sub)
{
	json_t *j = gw_audit_next(sub, "memories_exported");

	ck_assert_str_eq(tk_text(j, "payload.reason"), "cut short");
	ck_assert_str_eq(tk_text(j, "payload.user_id"), "ann");
	ck_assert_int_gt(tk_int(j, "payload.count"), 0);
	json_decref(j);
}

/* The client does not read until memory-worker has been killed. */
TEST_T(a_truncated_export_is_recognizable, 120)
{
	char soul[GW_SOUL_ID];
	natsSubscription *sub;
	struct gateway_memory_fixture r;
	struct tk_http c;
	struct str body;

	gw_memory_start(&r);
	sub = gw_audit_subscribe(&r.b);
	gw_soul(&r.b, "ann", "friendly", soul);
	put_large_memories(&r, soul);
	tk_http_open(&c, r.b.gateway.http);
	ck_assert_int_eq(setsockopt(c.fd, SOL_SOCKET, SO_RCVBUF, &(int){ 4096 },
			     sizeof(int)),
	    0);
	ck_assert(tk_http_puts(
	    &c, "GET " PATH " HTTP/1.1\r\nHost: localhost\r\n\r\n"));
	ck_assert(tk_http_has(&c, "m00000", GW_MS));
	tk_service_kill(&r.worker);
	/* An error line, without end line and without last chunk. */
	while (!c.eof)
		ck_assert(tk_http_fill(&c, 60000) || c.eof);
	body = buf_str(&c.in);
	ck_assert_int_ge(str_find(body, STR("m00000")), 0);
	ck_assert(!str_ends(body, STR("0\r\n\r\n")));
	ck_assert_int_lt(str_find(body, STR("{\"end\"")), 0);
	ck_assert_msg(
	    str_find(body, STR("{\"error\":{\"error\":\"memory-worker")) >= 0,
	    "%s", body.p + body.n - 400);
	tk_http_close(&c);
	check_truncation_audit(sub);
	natsSubscription_Destroy(sub);
	gateway_fixture_stop(&r.b);
}

static bool
no_stream_is_open(void *arg)
{
	struct gateway_memory_fixture *r = arg;

	return gw_has_metric(&r->b,
	    "soul_requests_total{route=\"memories_export\",code=\"unavailable\""
	    "} 1\n");
}

TEST_T(a_disconnected_client_ends_the_export, 120)
{
	char soul[GW_SOUL_ID];
	natsSubscription *sub;
	struct gateway_memory_fixture r;
	struct tk_http c;
	json_t *j;

	gw_memory_start(&r);
	sub = gw_audit_subscribe(&r.b);
	gw_soul(&r.b, "ann", "friendly", soul);
	put_large_memories(&r, soul);
	tk_http_open(&c, r.b.gateway.http);
	ck_assert_int_eq(setsockopt(c.fd, SOL_SOCKET, SO_RCVBUF, &(int){ 4096 },
			     sizeof(int)),
	    0);
	ck_assert(tk_http_puts(
	    &c, "GET " PATH " HTTP/1.1\r\nHost: localhost\r\n\r\n"));
	ck_assert(tk_http_has(&c, "m00000", GW_MS));
	tk_http_close(&c);
	ck_assert(tk_until(no_stream_is_open, &r, GW_MS));
	check_truncation_audit(sub);
	/* Other requests still work. */
	j = gw_json(&r.b, "GET", "/v1/memories?user_id=ann", NULL);
	ck_assert_uint_eq(gw_items_n(j), 50);
	json_decref(j);
	natsSubscription_Destroy(sub);
	gw_memory_stop(&r);
}
