/*
 * A user's memories over HTTP: listed, searched and deleted by that user only.
 */
#include <stdarg.h>
#include <stdio.h>

#include "core/mem.h"
#include "testkit/gateway_fixture.h"

#define AWAY "memory-worker does not answer: see that it runs, then try again"

/* A formatted path, valid until the next call. */
__attribute__((format(printf, 1, 2))) static const char *
format_path(const char *fmt, ...)
{
	static char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return text;
}

TEST(memories_are_listed_by_pages)
{
	char id[16], soul[GW_SOUL_ID], next[512];
	struct gateway_memory_fixture r;
	json_t *j;
	int i;

	gw_memory_start(&r);
	/* A user without data. */
	j = gw_json(&r.b, "GET", "/v1/memories?user_id=missing", NULL);
	ck_assert_uint_eq(gw_items_n(j), 0);
	ck_assert_ptr_null(json_object_get(j, "next"));
	json_decref(j);

	gw_soul(&r.b, "ann", "friendly", soul);
	for (i = 0; i < 60; i++) {
		snprintf(id, sizeof(id), "m%d", i);
		gw_put_memory(&r, "ann", soul, id, id, 1000 + i);
	}
	j = gw_json(&r.b, "GET", "/v1/memories?user_id=ann", NULL);
	ck_assert_uint_eq(gw_items_n(j), 50);
	ck_assert_str_eq(gw_item_text(j, 49), "m49");
	ck_assert_str_eq(tk_text(j, "backend"), "builtin");
	snprintf(next, sizeof(next), "/v1/memories?user_id=ann&cursor=%s",
	    tk_text(j, "next"));
	json_decref(j);
	j = gw_json(&r.b, "GET", next, NULL);
	ck_assert_uint_eq(gw_items_n(j), 10);
	ck_assert_str_eq(gw_item_text(j, 0), "m50");
	ck_assert_str_eq(
	    tk_text(json_array_get(tk_at(j, "items"), 0), "soul_id"), soul);
	ck_assert_ptr_null(json_object_get(j, "next"));
	json_decref(j);
	j = gw_json(&r.b, "GET",
	    format_path("/v1/memories?user_id=ann&limit=2&soul_id=%s", soul),
	    NULL);
	ck_assert_uint_eq(gw_items_n(j), 2);
	json_decref(j);
	gw_memory_stop(&r);
}

TEST(a_query_searches_one_souls_memories)
{
	char soul[GW_SOUL_ID];
	struct gateway_memory_fixture r;
	json_t *j, *first;

	gw_memory_start(&r);
	gw_soul(&r.b, "ann", "friendly", soul);
	gw_put_memory(&r, "ann", soul, "tea", "用户喜欢乌龙茶", 1000);
	gw_put_memory(&r, "ann", soul, "run", "用户每天跑步", 2000);
	j = gw_json(&r.b, "GET",
	    format_path("/v1/memories?user_id=ann&soul_id=%s&top_k=1&query="
			"%%E4%%B9%%8C%%E9%%BE%%99%%E8%%8C%%B6",
		soul),
	    NULL);
	ck_assert_uint_eq(gw_items_n(j), 1);
	first = json_array_get(tk_at(j, "items"), 0);
	ck_assert_str_eq(tk_text(first, "memory_id"), "tea");
	ck_assert_str_eq(tk_text(first, "soul_id"), soul);
	ck_assert_double_gt(tk_number(first, "score"), 0);
	json_decref(j);
	gw_rejects(&r.b, "GET", "/v1/memories?user_id=ann&query=x", NULL, 400,
	    "soul_id: must be named with a query");
	gw_memory_stop(&r);
}

static const struct {
	const char *method, *path, *text;
} bad[] = {
	{ "GET", "/v1/memories?user_id=",
	    "user_id: must be 1 to 128 bytes without control characters" },
	{ "GET", "/v1/memories?user_id=a%0ab",
	    "user_id: must be 1 to 128 bytes without control characters" },
	{ "GET", "/v1/memories?soul_id=",
	    "soul_id: must be 1 to 128 bytes without control characters" },
	{ "GET", "/v1/memories?limit=0", "limit: must be 1 to 200" },
	{ "GET", "/v1/memories?limit=201", "limit: must be 1 to 200" },
	{ "GET", "/v1/memories?limit=x", "limit: must be 1 to 200" },
	{ "GET", "/v1/memories?top_k=11", "top_k: must be 1 to 10" },
	{ "GET", "/v1/memories?cursor=x",
	    "cursor: must be the next of the page before, of the same souls" },
	{ "GET", "/v1/memories?cursor=", "/after: must not be empty" },
	{ "GET", "/v1/memories?soul_id=s&query=", "/query: must not be empty" },
	{ "GET", "/v1/memories/export?user_id=",
	    "user_id: must be 1 to 128 bytes without control characters" },
	{ "DELETE", "/v1/memories",
	    "user_id: must be named: there is no default here" },
	{ "DELETE", "/v1/memories?soul_id=s",
	    "user_id: must be named: there is no default here" },
	{ "DELETE", "/v1/memories?user_id=",
	    "user_id: must be 1 to 128 bytes without control characters" },
	{ "DELETE", "/v1/memories/a%0ab",
	    "memory_id: must be 1 to 128 bytes without control characters" },
	{ "GET", "/v1/users/a%0ab/profile",
	    "user_id: must be 1 to 128 bytes without control characters" },
};

TEST(invalid_requests_are_rejected)
{
	struct gateway_memory_fixture r;
	size_t i;

	gw_memory_start(&r);
	gw_put_memory(&r, "demo-user", "s", "m", "x", 1);
	for (i = 0; i < NELEM(bad); i++)
		gw_rejects(
		    &r.b, bad[i].method, bad[i].path, NULL, 400, bad[i].text);
	/* None of these deleted anything. */
	json_decref(gw_json(&r.b, "DELETE", "/v1/memories/m?soul_id=s", NULL));
	gw_memory_stop(&r);
}

TEST(one_memory_is_deleted)
{
	char soul[GW_SOUL_ID], other[GW_SOUL_ID];
	struct gateway_memory_fixture r;
	json_t *j;

	gw_memory_start(&r);
	gw_soul(&r.b, "ann", "friendly", soul);
	gw_soul(&r.b, "bob", "friendly", other);
	gw_put_memory(&r, "ann", soul, "m/1", "of ann", 1000);
	gw_put_memory(&r, "bob", other, "m/1", "of bob", 1000);
	gw_put_memory(&r, "bob", other, "m2", "of bob", 1000);
	/* Memories of other users are missing, whatever soul is named. */
	gw_rejects(&r.b, "DELETE", "/v1/memories/m2?user_id=ann", NULL, 404,
	    "memory not found");
	gw_rejects(&r.b, "DELETE",
	    format_path("/v1/memories/m2?user_id=ann&soul_id=%s", other), NULL,
	    404, "memory not found");
	gw_rejects(&r.b, "DELETE",
	    format_path("/v1/memories/m%%2f1?user_id=bob&soul_id=%s", soul),
	    NULL, 404, "memory not found");
	j = gw_json(&r.b, "DELETE", "/v1/memories/m%2f1?user_id=ann", NULL);
	ck_assert_int_eq(tk_int(j, "forgotten"), 1);
	ck_assert(json_is_false(tk_at(j, "profile")));
	json_decref(j);
	gw_rejects(&r.b, "DELETE", "/v1/memories/m%2f1?user_id=ann", NULL, 404,
	    "memory not found");
	j = gw_json(&r.b, "GET", "/v1/memories?user_id=bob", NULL);
	ck_assert_uint_eq(gw_items_n(j), 2);
	json_decref(j);
	gw_memory_stop(&r);
}

TEST(all_memories_of_a_user_are_deleted)
{
	char soul[GW_SOUL_ID], second[GW_SOUL_ID], other[GW_SOUL_ID];
	struct gateway_memory_fixture r;
	json_t *j;

	gw_memory_start(&r);
	gw_soul(&r.b, "ann", "friendly", soul);
	gw_soul(&r.b, "ann", "stern", second);
	gw_soul(&r.b, "bob", "friendly", other);
	gw_put_memory(&r, "ann", soul, "m1", "x", 1000);
	gw_put_memory(&r, "ann", soul, "m2", "x", 1000);
	gw_put_memory(&r, "ann", second, "m1", "x", 1000);
	gw_put_memory(&r, "bob", other, "m1", "of bob", 1000);
	gw_ok(&r.b, "PATCH", "/v1/users/ann/profile",
	    "{\"user_profile\":{\"name\":\"Ann\"},\"system_state\":{\"v\":1}}");
	gw_ok(&r.b, "PATCH", "/v1/users/bob/profile",
	    "{\"user_profile\":{\"name\":\"Bob\"}}");
	/* Of one soul: the profile stays. */
	j = gw_json(&r.b, "DELETE",
	    format_path("/v1/memories?user_id=ann&soul_id=%s", second), NULL);
	ck_assert_int_eq(tk_int(j, "forgotten"), 1);
	ck_assert(json_is_false(tk_at(j, "profile")));
	json_decref(j);
	/* A soul of another user. */
	j = gw_json(&r.b, "DELETE",
	    format_path("/v1/memories?user_id=ann&soul_id=%s", other), NULL);
	ck_assert_int_eq(tk_int(j, "forgotten"), 0);
	json_decref(j);
	j = gw_json(&r.b, "DELETE", "/v1/memories?user_id=ann", NULL);
	ck_assert_int_eq(tk_int(j, "forgotten"), 2);
	ck_assert(json_is_true(tk_at(j, "profile")));
	json_decref(j);
	j = gw_json(&r.b, "GET", "/v1/users/ann/profile", NULL);
	ck_assert_uint_eq(json_object_size(tk_at(j, "user_profile")), 0);
	ck_assert_int_eq(tk_int(j, "system_state.v"), 1);
	json_decref(j);
	j = gw_json(&r.b, "DELETE", "/v1/memories?user_id=ann", NULL);
	ck_assert_int_eq(tk_int(j, "forgotten"), 0);
	json_decref(j);
	/* Bob's memories are unaffected. */
	j = gw_json(&r.b, "GET", "/v1/memories?user_id=bob", NULL);
	ck_assert_uint_eq(gw_items_n(j), 1);
	json_decref(j);
	j = gw_json(&r.b, "GET", "/v1/users/bob/profile", NULL);
	ck_assert_str_eq(tk_text(j, "user_profile.name"), "Bob");
	json_decref(j);
	gw_memory_stop(&r);
}

TEST(a_profile_is_read_and_patched)
{
	struct tk_response a = { 0 };
	struct gateway_memory_fixture r;
	json_t *j;

	gw_memory_start(&r);
	j = gw_json(&r.b, "GET", "/v1/users/an%2Fn/profile", NULL);
	ck_assert_str_eq(tk_text(j, "user_id"), "an/n");
	ck_assert_uint_eq(json_object_size(tk_at(j, "user_profile")), 0);
	ck_assert_ptr_nonnull(tk_at(j, "system_state"));
	json_decref(j);
	j = gw_json(&r.b, "PATCH", "/v1/users/an%2Fn/profile",
	    "{\"user_profile\":{\"name\":\"安\",\"likes\":[\"茶\"]}}");
	ck_assert_str_eq(tk_text(j, "user_profile.name"), "安");
	ck_assert_ptr_nonnull(json_object_get(j, "updated_at"));
	json_decref(j);
	j = gw_json(&r.b, "PATCH", "/v1/users/an%2Fn/profile",
	    "{\"user_profile\":{\"name\":null}}");
	ck_assert_ptr_null(tk_find(j, "user_profile.name"));
	ck_assert_uint_eq(json_array_size(tk_at(j, "user_profile.likes")), 1);
	json_decref(j);
	/* A top-level null is passed on. */
	j = gw_json(&r.b, "PATCH", "/v1/users/an%2Fn/profile",
	    "{\"user_profile\":null,\"system_state\":{\"boot_count\":42}}");
	ck_assert_uint_eq(json_object_size(tk_at(j, "user_profile")), 0);
	ck_assert_int_eq(tk_int(j, "system_state.boot_count"), 42);
	json_decref(j);
	/* With the merge patch content type. */
	ck_assert_int_eq(
	    tk_http_call(r.b.gateway.http, &a,
		"PATCH /v1/users/u/profile HTTP/1.1\r\nHost: localhost\r\n"
		"Content-Type: application/merge-patch+json\r\n"
		"Content-Length: 2\r\n\r\n{}"),
	    200);
	tk_response_free(&a);
	gw_rejects(&r.b, "PATCH", "/v1/users/u/profile", "{\"name\":\"x\"}",
	    400, "/name: is neither user_profile nor system_state");
	gw_rejects(&r.b, "PATCH", "/v1/users/u/profile",
	    "{\"user_profile\":[]}", 400, "/user_profile: must be an object");
	gw_rejects(&r.b, "PATCH", "/v1/users/u/profile",
	    "{\"user_profile\":{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":{\"f\":1}}}}"
	    "}}}",
	    400,
	    "/user_profile/a/b/c/d/e/f: is nested too deep: at most 6 names "
	    "lead to a value");
	gw_request(&r.b, &a, "PATCH", "/v1/users/u/profile", "[]");
	ck_assert_int_eq(a.status, 400);
	gw_request(&r.b, &a, "PATCH", "/v1/users/u/profile", "{");
	ck_assert_int_eq(a.status, 400);
	tk_response_free(&a);
	gw_memory_stop(&r);
}

/* Users with similar names have separate data. */
TEST(similar_user_names_are_distinct)
{
	static const char *const names[] = { "an", "ann%20", "*", "ann:*",
		"Ann", "%7Bann%7D", "ann%3A", "ann.", "..%2Fann" };
	char soul[GW_SOUL_ID];
	struct gateway_memory_fixture r;
	json_t *j;
	size_t i;

	gw_memory_start(&r);
	gw_soul(&r.b, "ann", "friendly", soul);
	gw_put_memory(&r, "ann", soul, "m1", "secret", 1000);
	gw_ok(&r.b, "PATCH", "/v1/users/ann/profile",
	    "{\"user_profile\":{\"secret\":1}}");
	for (i = 0; i < NELEM(names); i++) {
		j = gw_json(&r.b, "GET",
		    format_path("/v1/memories?user_id=%s", names[i]), NULL);
		ck_assert_uint_eq(gw_items_n(j), 0);
		json_decref(j);
		j = gw_json(&r.b, "GET",
		    format_path(
			"/v1/memories?user_id=%s&query=secret&soul_id=%s",
			names[i], soul),
		    NULL);
		ck_assert_uint_eq(gw_items_n(j), 0);
		json_decref(j);
		j = gw_json(&r.b, "GET",
		    format_path("/v1/users/%s/profile", names[i]), NULL);
		ck_assert_uint_eq(
		    json_object_size(tk_at(j, "user_profile")), 0);
		json_decref(j);
		j = gw_json(&r.b, "DELETE",
		    format_path("/v1/memories?user_id=%s", names[i]), NULL);
		ck_assert_int_eq(tk_int(j, "forgotten"), 0);
		json_decref(j);
	}
	j = gw_json(&r.b, "GET", "/v1/memories?user_id=ann", NULL);
	ck_assert_uint_eq(gw_items_n(j), 1);
	json_decref(j);
	gw_memory_stop(&r);
}

TEST(without_memory_worker_requests_are_unavailable)
{
	struct gateway_fixture b;

	gateway_fixture_start(&b, NULL);
	gw_rejects(&b, "GET", "/v1/memories", NULL, 503, AWAY);
	gw_rejects(
	    &b, "GET", "/v1/memories?soul_id=s&query=x", NULL, 503, AWAY);
	gw_rejects(&b, "GET", "/v1/memories/export", NULL, 503, AWAY);
	gw_rejects(&b, "DELETE", "/v1/memories/m", NULL, 503, AWAY);
	gw_rejects(&b, "DELETE", "/v1/memories?user_id=u", NULL, 503, AWAY);
	gw_rejects(&b, "GET", "/v1/users/u/profile", NULL, 503, AWAY);
	gw_rejects(&b, "PATCH", "/v1/users/u/profile", "{}", 503, AWAY);
	gateway_fixture_stop(&b);
}
