/* Listing memories page by page, within a user. */
#include <signal.h>

#include "core/mem.h"
#include "testkit/memory_fixture.h"

static void
remember_at(struct memory_fixture *fx, const char *user, const char *soul,
    const char *id, const char *text, int64_t ms)
{
	struct memory_scope scope = { str_of(user), str_of(soul) };
	struct memory_item item = { .id = str_of(id), .json = { NULL, 0 } };
	char made[WALL_FORMAT_MAX], *json;
	json_t *j;

	wall_format((struct wall){ ms }, 0, made);
	j = json_pack("{sssssssss[s]}", "text", text, "type", "fact",
	    "created_at", made, "session_id", "x1", "tags", "茶");
	json = json_dumps(j, 0);
	item.json = str_of(json);
	ck_assert_int_eq(
	    memory_put(fx->db.s, &scope, &item, clock_wall()), RC_OK);
	free(json);
	json_decref(j);
}

/* A page of a user's; soul and after may be NULL. */
static json_t *
page_of(struct memory_fixture *fx, const char *user, const char *soul,
    const char *after, int limit)
{
	json_t *req = json_pack("{sssi}", "user_id", user, "limit", limit);

	if (soul != NULL)
		json_object_set_new(req, "soul_id", json_string(soul));
	if (after != NULL)
		json_object_set_new(req, "after", json_string(after));
	return memory_fixture_rpc(fx, "soul.rpc.memory.list", req);
}

/* Append the ids of a page to out; the cursor of the next, or NULL. */
static const char *
add_ids(json_t *page, char *out, size_t size)
{
	json_t *items = json_object_get(page, "items"), *item;
	size_t i;

	json_array_foreach (items, i, item)
		snprintf(out + strlen(out), size - strlen(out), "%s ",
		    tk_text(item, "memory_id"));
	return json_string_value(tk_find(page, "next"));
}

/* The ids of all pages of at most limit. */
static const char *
list_ids(
    struct memory_fixture *fx, const char *user, const char *soul, int limit)
{
	static char ids[65536];
	char after[512] = "";
	const char *next;
	json_t *j;

	ids[0] = '\0';
	do {
		j = page_of(
		    fx, user, soul, after[0] != '\0' ? after : NULL, limit);
		ck_assert_uint_le(memory_fixture_hits(j), (size_t)limit);
		next = add_ids(j, ids, sizeof(ids));
		snprintf(after, sizeof(after), "%s", next != NULL ? next : "");
		json_decref(j);
	} while (after[0] != '\0');
	return ids;
}

TEST_T(pages_are_ordered, 60)
{
	struct memory_fixture fx;
	json_t *j, *item;
	int limit;

	memory_fixture_start(&fx, 1);
	j = page_of(&fx, "u1", NULL, NULL, 50);
	ck_assert_uint_eq(memory_fixture_hits(j), 0);
	ck_assert_ptr_null(json_object_get(j, "next"));
	ck_assert_str_eq(tk_text(j, "backend"), "builtin");
	ck_assert(json_is_false(json_object_get(j, "degraded")));
	json_decref(j);

	/* By age and id, independent of insertion order. */
	memory_fixture_soul(&fx, "a younger soul", "u1");
	remember_at(&fx, "u1", "a younger soul", "first", "x", 1);
	remember_at(&fx, "u1", "s1", "c", "x", 2000);
	remember_at(&fx, "u1", "s1", "a", "x", 3000);
	remember_at(&fx, "u1", "s1", "b", "x", 1000);
	remember_at(&fx, "u1", "s1", "d:*", "x", 2000);
	remember_at(&fx, "u1", "s1", "d", "x", 2000);
	for (limit = 1; limit < 8; limit++) {
		ck_assert_str_eq(
		    list_ids(&fx, "u1", NULL, limit), "b c d d:* a first ");
		ck_assert_str_eq(
		    list_ids(&fx, "u1", "s1", limit), "b c d d:* a ");
	}
	j = page_of(&fx, "u1", NULL, NULL, 1);
	item = memory_fixture_item(j, 0);
	ck_assert_str_eq(tk_text(item, "soul_id"), "s1");
	ck_assert_str_eq(tk_text(item, "text"), "x");
	ck_assert_str_eq(tk_text(item, "type"), "fact");
	ck_assert_str_eq(tk_text(item, "created_at"), "1970-01-01T00:00:01Z");
	ck_assert_str_eq(tk_text(item, "session_id"), "x1");
	ck_assert_str_eq(
	    json_string_value(json_array_get(json_object_get(item, "tags"), 0)),
	    "茶");
	ck_assert_ptr_null(json_object_get(item, "terminal_id"));
	ck_assert_ptr_null(json_object_get(item, "valid_until"));
	ck_assert_ptr_null(json_object_get(item, "score"));
	json_decref(j);
	memory_fixture_stop(&fx);
}

/* Memories and souls are added and removed between pages. */
TEST_T(a_cursor_survives_changes, 60)
{
	const struct memory_scope scope = { STR("u1"), STR("s1") };
	char ids[256] = "", after[512];
	struct memory_fixture fx;
	json_t *j;

	memory_fixture_start(&fx, 1);
	memory_fixture_soul(&fx, "s2", "u1");
	memory_fixture_soul(&fx, "s3", "u1");
	remember_at(&fx, "u1", "s1", "m1", "x", 1000);
	remember_at(&fx, "u1", "s1", "m2", "x", 2000);
	remember_at(&fx, "u1", "s1", "m3", "x", 3000);
	remember_at(&fx, "u1", "s1", "m4", "x", 4000);
	remember_at(&fx, "u1", "s2", "n1", "x", 1000);
	remember_at(&fx, "u1", "s3", "o1", "x", 1000);
	j = page_of(&fx, "u1", NULL, NULL, 2);
	snprintf(after, sizeof(after), "%s", add_ids(j, ids, sizeof(ids)));
	json_decref(j);
	/* Before, at and after the cursor. */
	ck_assert_int_eq(memory_forget(fx.db.s, &scope, STR("m1")), RC_OK);
	ck_assert_int_eq(memory_forget(fx.db.s, &scope, STR("m2")), RC_OK);
	ck_assert_int_eq(memory_forget(fx.db.s, &scope, STR("m3")), RC_OK);
	remember_at(&fx, "u1", "s1", "m0", "x", 500);
	remember_at(&fx, "u1", "s1", "m5", "x", 5000);
	j = page_of(&fx, "u1", NULL, after, 1);
	snprintf(after, sizeof(after), "%s", add_ids(j, ids, sizeof(ids)));
	json_decref(j);
	ck_assert_str_eq(ids, "m1 m2 m4 ");
	/* The cursor's soul is deleted. */
	ck_assert_int_eq(
	    soul_delete(fx.db.s, STR("u1"), STR("s1"), NULL), RC_OK);
	j = page_of(&fx, "u1", NULL, after, 50);
	ck_assert_ptr_null(add_ids(j, ids, sizeof(ids)));
	json_decref(j);
	ck_assert_str_eq(ids, "m1 m2 m4 n1 o1 ");
	memory_fixture_stop(&fx);
}

TEST_T(large_memories_are_paged, 120)
{
	static char large[16384 * 3 + 1];
	char id[16];
	size_t i, n = 0, pages = 0;
	char after[512] = "";
	const char *next;
	struct memory_fixture fx;
	json_t *j;

	memory_fixture_start(&fx, 1);
	/* Texts of maximum length that also need the most escapes. */
	memset(large, '\x01', 16384);
	for (i = 0; i < 40; i++) {
		snprintf(id, sizeof(id), "m%zu", i);
		remember_at(&fx, "u1", "s1", id, large, (int64_t)i);
	}
	do {
		j = page_of(
		    &fx, "u1", NULL, after[0] != '\0' ? after : NULL, 200);
		ck_assert(json_is_false(json_object_get(j, "degraded")));
		n += memory_fixture_hits(j);
		pages++;
		next = json_string_value(tk_find(j, "next"));
		snprintf(after, sizeof(after), "%s", next != NULL ? next : "");
		json_decref(j);
	} while (after[0] != '\0');
	ck_assert_uint_eq(n, 40);
	ck_assert_uint_gt(pages, 3);
	memory_fixture_stop(&fx);
}

/* Superseded memories are marked. */
TEST_T(superseded_memories_are_listed, 60)
{
	const struct memory_scope scope = { STR("u1"), STR("s1") };
	const struct memory_superseded old = { .id = STR("m1"),
		.made = { 1000 },
		.until = { 2000 },
		.json = STR("{\"text\":\"was\",\"type\":\"fact\","
			    "\"created_at\":\"1970-01-01T00:00:01Z\","
			    "\"valid_until\":\"1970-01-01T00:00:02Z\","
			    "\"superseded_by\":\"m2\"}") };
	struct memory_fixture fx;
	json_t *j, *item;

	memory_fixture_start(&fx, 1);
	remember_at(&fx, "u1", "s1", "m0", "x", 500);
	remember_at(&fx, "u1", "s1", "m1", "was", 1000);
	remember_at(&fx, "u1", "s1", "m2", "is", 2000);
	ck_assert_int_eq(memory_supersede(fx.db.s, &scope, &old, true), RC_OK);
	ck_assert_str_eq(list_ids(&fx, "u1", NULL, 1), "m0 m1 m2 ");
	j = page_of(&fx, "u1", NULL, NULL, 50);
	item = memory_fixture_item(j, 1);
	ck_assert_str_eq(tk_text(item, "text"), "was");
	ck_assert_str_eq(tk_text(item, "valid_until"), "1970-01-01T00:00:02Z");
	ck_assert_str_eq(tk_text(item, "superseded_by"), "m2");
	item = memory_fixture_item(j, 2);
	ck_assert_ptr_null(json_object_get(item, "valid_until"));
	json_decref(j);
	/* It can be forgotten, too. */
	j = memory_fixture_forget_reply(&fx, "u1", NULL, "memory_id", "m1");
	ck_assert_int_eq(tk_int(j, "forgotten"), 1);
	json_decref(j);
	ck_assert_str_eq(list_ids(&fx, "u1", NULL, 1), "m0 m2 ");
	memory_fixture_stop(&fx);
}

TEST_T(lists_do_not_cross_users, 60)
{
	static const char *const names[] = { "u", "u1:s1", "u1:*", "*", "u1 ",
		"U1", "u1}", "{u1", "u1:", "~dTE", "u1.", "u%31", "../u1",
		"u1\n*" };
	char body[256], code[64];
	struct memory_fixture fx;
	json_t *j;
	size_t i;

	memory_fixture_start(&fx, 1);
	memory_fixture_soul(&fx, "s2", "u2");
	remember_at(&fx, "u1", "s1", "m1", "of u1", 1000);
	remember_at(&fx, "u2", "s2", "m1", "of u2", 1000);
	/* A soul's memories of another user, and vice versa. */
	ck_assert_str_eq(list_ids(&fx, "u2", "s1", 5), "");
	ck_assert_str_eq(list_ids(&fx, "u1", "s2", 5), "");
	j = page_of(&fx, "u2", NULL, NULL, 5);
	ck_assert_uint_eq(memory_fixture_hits(j), 1);
	ck_assert_str_eq(memory_fixture_hit_text(j, 0), "of u2");
	json_decref(j);
	for (i = 0; i < NELEM(names) - 1; i++) {
		ck_assert_str_eq(list_ids(&fx, names[i], NULL, 5), "");
		ck_assert_str_eq(list_ids(&fx, names[i], "s1", 5), "");
		ck_assert_str_eq(list_ids(&fx, "u1", names[i], 5), "");
	}
	/* Another user's cursor selects only the caller's memories. */
	snprintf(body, sizeof(body),
	    "{\"user_id\":\"u2\",\"after\":\"1.s1.0.a\",\"limit\":5}");
	j = tk_nats_request(fx.nc, "soul.rpc.memory.list", body, code);
	ck_assert_str_eq(code, "");
	ck_assert_uint_eq(memory_fixture_hits(j), 1);
	ck_assert_str_eq(memory_fixture_hit_text(j, 0), "of u2");
	json_decref(j);
	memory_fixture_stop(&fx);
}

static const struct {
	const char *body, *path;
} bad[] = {
	{ "{}", "/user_id" },
	{ "{\"user_id\":\"\"}", "/user_id" },
	{ "{\"user_id\":\"u1\\n*\"}", "/user_id" },
	{ "{\"user_id\":\"u1\",\"limit\":0}", "/limit" },
	{ "{\"user_id\":\"u1\",\"limit\":1001}", "/limit" },
	{ "{\"user_id\":\"u1\",\"after\":\"x\"}", "/after" },
	{ "{\"user_id\":\"u1\",\"after\":\"0.s1.5.m\"}", "/after" },
	{ "{\"user_id\":\"u1\",\"soul_id\":\"s1\",\"after\":\"0.s2.5.m\"}",
	    "/after" },
	{ "{\"user_id\":\"u1\",\"soul_id\":\"s1\",\"after\":\"7.s1.5.m\"}",
	    "/after" },
};

TEST_T(invalid_requests_are_rejected, 60)
{
	char code[64];
	struct memory_fixture fx;
	json_t *j;
	size_t i;

	memory_fixture_start(&fx, 1);
	for (i = 0; i < NELEM(bad); i++) {
		j = tk_nats_request(
		    fx.nc, "soul.rpc.memory.list", bad[i].body, code);
		ck_assert_str_eq(code, "invalid_request");
		ck_assert_msg(strncmp(tk_text(j, "error"), bad[i].path,
				  strlen(bad[i].path)) == 0,
		    "%s: %s", bad[i].body, tk_text(j, "error"));
		json_decref(j);
	}
	tk_server_stop(&fx.redis, SIGKILL);
	j = tk_nats_request(
	    fx.nc, "soul.rpc.memory.list", "{\"user_id\":\"u1\"}", code);
	ck_assert_msg(strcmp(code, "unavailable") == 0 ||
		strcmp(code, "deadline_exceeded") == 0,
	    "%s", code);
	json_decref(j);
	memory_fixture_stop(&fx);
}
