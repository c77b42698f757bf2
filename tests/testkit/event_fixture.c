/*
 * Events are published by a plain client, as if a service had.
 */
#include "testkit/event_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t
event_fixture_put(
    struct gateway_fixture *b, const char *type, const char *payload)
{
	static char json[100000];
	char subject[96];
	natsMsg *reply = NULL;
	json_t *j;
	int64_t seq;
	int n;

	snprintf(subject, sizeof(subject), "soul.event.%s.x", type);
	n = snprintf(json, sizeof(json),
	    "{\"trace_id\":\"0af76519-16cd-43dd-8448-eb211c80319c\","
	    "\"type\":\"%s\",\"source\":\"test\",\"payload\":%s,"
	    "\"meta\":{\"timestamp\":1700000000}}",
	    type, payload);
	ck_assert_int_lt(n, (int)sizeof(json));
	ck_assert_int_eq(
	    natsConnection_RequestString(&reply, b->nc, subject, json, GW_MS),
	    NATS_OK);
	j = tk_nats_json(reply);
	seq = json_integer_value(json_object_get(j, "seq"));
	ck_assert_int_gt(seq, 0);
	json_decref(j);
	natsMsg_Destroy(reply);
	return seq;
}

void
event_fixture_purge(struct gateway_fixture *b, int64_t seq)
{
	char body[64], code[TK_CODE];
	json_t *j;

	snprintf(body, sizeof(body), "{\"seq\":%lld}", (long long)seq + 1);
	j = tk_nats_request(
	    b->nc, "$JS.API.STREAM.PURGE.SOUL_EVENTS", body, code);
	ck_assert(json_is_true(json_object_get(j, "success")));
	json_decref(j);
}

int64_t
event_fixture_seq(const struct tk_sse_event *e)
{
	int64_t seq;

	ck_assert_int_eq(str_to_i64(str_of(e->id), 0, INT64_MAX, &seq), RC_OK);
	return seq;
}

void
event_fixture_is(struct tk_sse *s, int64_t seq, const char *type)
{
	struct tk_sse_event e;

	ck_assert(tk_sse_next(s, TK_SSE_MS, &e));
	ck_assert_str_eq(e.name, type);
	ck_assert_int_eq(event_fixture_seq(&e), seq);
	ck_assert_str_eq(tk_text(e.j, "type"), type);
	ck_assert_str_eq(tk_text(e.j, "source"), "test");
	json_decref(e.j);
}

void
event_fixture_notice(
    struct tk_sse *s, const char *code, int64_t after, int64_t cursor)
{
	struct tk_sse_event e;

	ck_assert(tk_sse_next(s, 2 * TK_SSE_MS, &e));
	ck_assert_str_eq(e.name, "notice");
	ck_assert_int_eq(event_fixture_seq(&e), cursor);
	ck_assert_str_eq(tk_text(e.j, "code"), code);
	ck_assert_int_eq(tk_int(e.j, "after"), after);
	ck_assert_int_eq(tk_int(e.j, "cursor"), cursor);
	json_decref(e.j);
}

/* The numbers of a page, less after, each with a blank. */
static size_t
event_fixture_list(json_t *page, int64_t after, char *dst, size_t size)
{
	size_t i, n = 0;
	json_t *e;

	dst[0] = '\0';
	json_array_foreach (json_object_get(page, "items"), i, e) {
		n += (size_t)snprintf(dst + n, size - n, "%lld ",
		    (long long)(tk_int(e, "seq") - after));
		ck_assert_ptr_nonnull(
		    json_object_get(json_object_get(e, "event"), "payload"));
	}
	return n;
}

void
event_fixture_page(
    struct gateway_fixture *b, const char *path, const char *want)
{
	json_t *j = gw_json(b, "GET", path, NULL);
	char is[8192];
	size_t n = event_fixture_list(j, 0, is, sizeof(is));

	snprintf(is + n, sizeof(is) - n, "%lld %s",
	    (long long)tk_int(j, "cursor"),
	    json_is_true(json_object_get(j, "more")) ? "+" : "-");
	ck_assert_msg(strcmp(is, want) == 0, "%s: %s, not %s", path, is, want);
	json_decref(j);
}

void
event_fixture_page_as(struct gateway_fixture *b, const char *token,
    const char *path, int64_t after, const char *want)
{
	char from[256], is[8192];
	json_t *j;

	snprintf(from, sizeof(from), "%s%ccursor=%lld", path,
	    strchr(path, '?') != NULL ? '&' : '?', (long long)after);
	j = gw_json_as(b, token, "GET", from, NULL);
	(void)event_fixture_list(j, after, is, sizeof(is));
	ck_assert_msg(strcmp(is, want) == 0, "%s by %s: %s, not %s", from,
	    token, is, want);
	json_decref(j);
}
