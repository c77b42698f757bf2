/*
 * Commands that are said again: the reply is the one that was made for the
 * first, but for what is each reply's own.
 */
#include <signal.h>
#include <stdio.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/mem.h"
#include "testkit/intent_filter_fixture.h"
#include "testkit/intent_filter_load.h"
#include "testkit/testkit.h"

#define PATH   "/v1/intents/filter"
#define REUSED "soul_intent_results_reused_total"

struct command_test {
	struct tk_server nats, redis;
	struct filter_fixture r;
	natsConnection *nc;
	struct arena *a; /* of texts */
};

static void
command_test_start(struct command_test *t)
{
	memset(t, 0, sizeof(*t));
	tk_server_start(&t->nats, TK_NATS);
	tk_server_start(&t->redis, TK_REDIS);
	t->r.redis = t->redis.url;
	filter_fixture_start(&t->r, "filter", t->nats.url);
	t->nc = filter_fixture_nats(t->nats.url);
	ck_assert_ptr_nonnull(t->nc);
	t->a = arena_new(16 << 20);
}

static void
command_test_stop(struct command_test *t)
{
	arena_free(t->a);
	natsConnection_Destroy(t->nc);
	nats_Close();
	tk_service_end(&t->r.s);
	tk_server_stop(&t->redis, SIGTERM);
	tk_server_stop(&t->nats, SIGTERM);
}

enum command_way { BY_HTTP, BY_NATS };

static const char *
command_test_send(
    struct command_test *t, enum command_way way, const char *request)
{
	struct filter_response a;
	const char *reply;
	natsMsg *m = NULL;

	if (way == BY_HTTP) {
		a = filter_fixture_http(t->r.s.http, PATH, request);
		reply = arena_str(t->a, str_of(a.body)).p;
		filter_response_free(&a);
		return reply;
	}
	ck_assert_int_eq(natsConnection_RequestString(
			     &m, t->nc, FILTER_FIXTURE_SUBJECT, request, 10000),
	    NATS_OK);
	reply = arena_printf(
	    t->a, "%.*s", natsMsg_GetDataLength(m), natsMsg_GetData(m))
		    .p;
	natsMsg_Destroy(m);
	return reply;
}

static long long
command_test_reused(const struct command_test *t)
{
	return tk_service_metric(&t->r.s, REUSED);
}

/* Behind the last occurrence; fails the test. */
static const char *
command_after_last(const char *reply, const char *what)
{
	const char *at = NULL;

	for (const char *p = reply; (p = strstr(p, what)) != NULL; p++)
		at = p + strlen(what);
	ck_assert_msg(at != NULL, "%s in %s", what, reply);
	return at;
}

/* The reply with other texts in place of its own values. */
static const char *
command_rest(struct command_test *t, const char *reply)
{
	const char *id = command_after_last(reply, "{\"request_id\":\"");
	const char *latency = command_after_last(reply, "\"latency_ms\":");
	const char *now = command_after_last(reply, "\"now\":\"");
	const char *after_id = strchr(id, '"');
	const char *after_latency = strchr(latency, ',');

	ck_assert_ptr_eq(id, reply + strlen("{\"request_id\":\""));
	ck_assert_uint_eq(
	    strspn(latency, "0123456789."), (size_t)(after_latency - latency));
	return arena_printf(t->a, "ID%.*sLATENCY%.*sNOW%s",
	    (int)(latency - after_id), after_id, (int)(now - after_latency),
	    after_latency, strchr(now, '"'))
	    .p;
}

/* ---- the same reply ---- */

#define LIGHT                                                               \
	"{\"id\":\"light\",\"name\":\"灯\",\"match\":{\"keywords_any\":"   \
	"[\"开灯\",\"灯\"]},\"slots\":[{\"name\":\"skill\",\"default\":" \
	"\"control_light\"},{\"name\":\"mode\",\"default\":\"on\"}]}"
#define ALARM                                                             \
	"{\"id\":\"alarm\",\"match\":{\"keywords_any\":[\"提醒我\"]}," \
	"\"slots\":[{\"name\":\"trigger_in_seconds\",\"required\":true}]}"
#define CATALOG "[" LIGHT "," ALARM "]"
/* The same intents with other slots. */
#define CATALOG_2                                                          \
	"[{\"id\":\"light\",\"name\":\"灯\",\"match\":{\"keywords_any\":" \
	"[\"开灯\",\"灯\"]},\"slots\":[{\"name\":\"mode\",\"default\":" \
	"\"off\"}]}," ALARM "]"
#define WITH(command, more) \
	"{\"command\":\"" command "\"" more ",\"intent_catalog\":" CATALOG "}"
#define AT ",\"now\":\"2026-02-22T17:40:00+08:00\""

static const struct {
	const char *request;
	bool is_reused;
} commands[] = {
	{ WITH("开灯", ""), true },
	{ WITH("开灯", AT), true },
	{ WITH("开灯", ",\"request_id\":\"r-1 /<>\""), true },
	{ WITH("开灯", ",\"request_id\":\"一\""), false },
	{ WITH("开灯", ",\"now\":\"today\""), false },
	{ "{\"command\":\"开灯\",\"intent_catalog\":" CATALOG_2 "}", true },
	{ WITH("\\u5f00\\\"灯\\\\", ""), true },
	{ WITH("今晚讲个故事", ""), false },
	{ WITH("讲个故事", ""), true },
	{ WITH("嗯", ""), true },
	{ WITH("五分钟后提醒我", ""), false },
	{ WITH("五分钟后提醒我", AT), true },
	{ WITH("2月30日讲故事", ""), false },
	{ WITH("2月29日提醒我", AT), true },
	{ WITH("五分钟后提醒我", ",\"options\":{\"enable_time_parser\":false}"),
	    false },
	{ WITH("打开灯然后讲故事",
	      ",\"options\":{\"return_debug_entities\":true,"
	      "\"return_debug_candidates\":true}"),
	    true },
	{ WITH("开灯", ",\"options\":{\"min_confidence\":1}"), true },
	{ WITH("讲故事",
	      ",\"options\":{\"emit_system_intent_when_empty\":false}"),
	    true },
	{ WITH("开灯", ",\"locale\":\"ja-JP\""), true },
	{ WITH("turn on 灯", ",\"locale\":\"en\""), true },
	{ WITH("开灯", ",\"timezone\":\"America/New_York\""), true },
	{ WITH("开灯", AT ",\"timezone\":\"America/New_York\""), true },
	{ WITH("开灯",
	      ",\"skills\":[{\"name\":\"control_light\","
	      "\"input_schema\":{\"type\":\"object\",\"properties\":"
	      "{\"mode\":{\"type\":\"string\"}}}}]"),
	    true },
	{ WITH("开灯",
	      ",\"skills\":[{\"name\":\"control_light\","
	      "\"input_schema\":{\"type\":\"object\",\"properties\":"
	      "{\"mode\":{\"type\":\"number\"}}}}]"),
	    true },
	{ WITH("", ""), false },
	{ WITH("开灯", ",\"timezone\":\"Mars\""), false },
	{ WITH("开灯", ",\"options\":{\"max_intents\":33}"), false },
};

#define TIMES 4

TEST_T(a_repeated_command_has_the_same_reply, 60)
{
	struct command_test t;
	const char *first, *reply;
	long long reused;

	command_test_start(&t);
	for (size_t i = 0; i < NELEM(commands); i++) {
		bool failed;

		/* It is stored at the second request. */
		first = command_test_send(&t, BY_HTTP, commands[i].request);
		failed = strstr(first, "\"error\":") != NULL;
		for (int n = 0; n < 2; n++)
			command_test_send(&t, BY_HTTP, commands[i].request);
		reused = command_test_reused(&t);
		for (int n = 0; n < 2 * TIMES && !failed; n++) {
			reply = command_test_send(
			    &t, n % 2 ? BY_NATS : BY_HTTP, commands[i].request);
			ck_assert_str_eq(
			    command_rest(&t, reply), command_rest(&t, first));
		}
		if (failed)
			ck_assert_ptr_nonnull(strstr(
			    command_test_send(&t, BY_HTTP, commands[i].request),
			    "\"error\":"));
		/* The very first waits for its catalog, and so has no key. */
		ck_assert_msg(command_test_reused(&t) - reused ==
			    (commands[i].is_reused ? 2 * TIMES : 0) ||
			i == 0,
		    "%s: %lld", commands[i].request,
		    command_test_reused(&t) - reused);
	}
	ck_assert_str_ne(
	    command_rest(
		&t, command_test_send(&t, BY_HTTP, commands[0].request)),
	    command_rest(
		&t, command_test_send(&t, BY_HTTP, commands[5].request)));
	command_test_stop(&t);
}

/* ---- what is each reply's own ---- */

TEST_T(request_id_and_now_are_the_requests_own, 60)
{
	struct command_test t;
	const char *request, *reply, *id, *earlier = "";

	command_test_start(&t);
	for (int i = 0; i < 20; i++) {
		enum command_way way = i % 2 ? BY_NATS : BY_HTTP;

		request = arena_printf(t.a,
		    WITH("开灯",
			",\"request_id\":\"r%d\",\"timezone\":\"Asia/Tokyo\","
			"\"now\":\"2026-02-22T17:%d:00+08:00\""),
		    i, 10 + i)
			      .p;
		reply = command_test_send(&t, way, request);
		ck_assert(str_starts(str_of(reply),
		    arena_printf(t.a, "{\"request_id\":\"r%d\",", i)));
		ck_assert(str_starts(
		    str_of(command_after_last(reply, "\"now\":\"")),
		    arena_printf(t.a, "2026-02-22T18:%d:00+09:00\"", 10 + i)));
		reply = command_test_send(&t, way, WITH("开灯", ""));
		id = command_after_last(reply, "{\"request_id\":\"");
		ck_assert(str_starts(str_of(id), STR("ifr-")));
		ck_assert_int_ne(strncmp(id, earlier, 36), 0);
		earlier = id;
	}
	ck_assert_int_ge(command_test_reused(&t), 30);
	command_test_stop(&t);
}

TEST_T(a_time_is_computed_for_each_request, 60)
{
	struct command_test t;
	const char *reply;

	command_test_start(&t);
	for (int i = 0; i < 12; i++) {
		reply = command_test_send(&t, i % 2 ? BY_NATS : BY_HTTP,
		    arena_printf(t.a,
			WITH("十点提醒我",
			    ",\"now\":\"2026-02-22T0%d:00:00"
			    "+08:00\""),
			i / 4)
			.p);
		ck_assert_msg(
		    strstr(reply,
			arena_printf(t.a, "\"trigger_in_seconds\":%d}",
			    (10 - i / 4) * 3600)
			    .p) != NULL,
		    "%s", reply);
	}
	ck_assert_int_ge(command_test_reused(&t), 3);
	command_test_stop(&t);
}

/* ---- catalogs in records ---- */

static void
command_test_put_record(
    struct command_test *t, const char *catalog, const char *hash)
{
	struct filter_load load;

	filter_load_start(&load, t->nats.url, t->redis.url);
	filter_load_put_record(&load, catalog, hash);
	filter_load_stop(&load);
}

#define BY_HASH(hash)                                                      \
	"{\"command\":\"开灯\",\"catalog_ref\":{\"terminal_id\":\"t1\"," \
	"\"hash\":\"" hash "\"}}"

TEST_T(a_command_with_another_catalog_by_hash_has_its_own_reply, 60)
{
	struct command_test t;
	const char *one, *two;

	command_test_start(&t);
	command_test_put_record(&t, CATALOG, "h1");
	for (int i = 0; i < 8; i++) {
		one = command_test_send(
		    &t, i % 2 ? BY_NATS : BY_HTTP, BY_HASH("h1"));
		ck_assert_msg(
		    strstr(one, "\"mode\":\"on\"") != NULL, "%s", one);
	}
	ck_assert_int_eq(command_test_reused(&t), 5);
	command_test_put_record(&t, CATALOG_2, "h2");
	for (int i = 0; i < 8; i++) {
		two = command_test_send(
		    &t, i % 2 ? BY_NATS : BY_HTTP, BY_HASH("h2"));
		ck_assert_msg(
		    strstr(two, "\"mode\":\"off\"") != NULL, "%s", two);
	}
	ck_assert_int_eq(command_test_reused(&t), 10);
	command_test_stop(&t);
}
