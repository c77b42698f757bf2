/*
 * Creating, listing and deleting souls over HTTP.
 */
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "state/memory.h"
#include "state/soul.h"
#include "testkit/gateway_fixture.h"

#define SOULS   "/v1/souls"
#define NEEDED  "name and mbti_type are required"
#define CREATE  "POST", SOULS
#define DEFAULT "demo-user"

static const struct {
	const char *body, *text;
} bad_souls[] = {
	{ "", "invalid json" },
	{ "{", "invalid json" },
	{ "[]", "invalid json" },
	{ "{}", NEEDED },
	{ "{\"name\":\"a\"}", NEEDED },
	{ "{\"mbti_type\":\"INFJ\"}", NEEDED },
	{ "{\"name\":\"\",\"mbti_type\":\"INFJ\"}", NEEDED },
	{ "{\"mbti_type\":\"\",\"name\":\"a\"}", NEEDED },
	{ "{\"name\":\" \\t\",\"mbti_type\":\"INFJ\"}", NEEDED },
	{ "{\"name\":\"\xe3\x80\x80\",\"mbti_type\":\"INFJ\"}", NEEDED },
	{ "{\"name\":\"a\",\"mbti_type\":\"  \"}", NEEDED },
	{ "{\"name\":\"a\",\"mbti_type\":\"INF\"}", "mbti must be 4 letters" },
	{ "{\"name\":\"a\",\"mbti_type\":\"INFJP\"}",
	    "mbti must be 4 letters" },
	{ "{\"name\":\"a\",\"mbti_type\":\"温柔\"}", "mbti must be 4 letters" },
	{ "{\"name\":\"a\",\"mbti_type\":\"INFX\"}",
	    "invalid mbti type: INFX" },
	{ "{\"name\":\"a\",\"mbti_type\":\"NIFJ\"}",
	    "invalid mbti type: NIFJ" },
	{ "{\"name\":1,\"mbti_type\":\"INFJ\"}", "/name: must be a string" },
	{ "{\"user_id\":\"\",\"name\":\"a\",\"mbti_type\":\"INFJ\"}",
	    "/user_id: must not be empty" },
	{ "{\"user_id\":\"a\\nb\",\"name\":\"a\",\"mbti_type\":\"INFJ\"}",
	    "/user_id: must not have control characters" },
};

TEST(invalid_souls_are_rejected)
{
	struct gateway_fixture b;
	size_t i;

	gateway_fixture_start(&b, NULL);
	for (i = 0; i < NELEM(bad_souls); i++)
		gw_rejects(
		    &b, CREATE, bad_souls[i].body, 400, bad_souls[i].text);
	gateway_fixture_stop(&b);
}

static void
is_infj(json_t *soul)
{
	static const struct {
		const char *trait;
		double is;
	} traits[] = { { "empathy", .67 }, { "sensitivity", .47 },
		{ "stability", .51 }, { "expressiveness", .36 },
		{ "dominance", .33 } };
	size_t i;

	for (i = 0; i < NELEM(traits); i++)
		ck_assert_double_eq_tol(
		    tk_number(
			tk_at(soul, "personality_vector"), traits[i].trait),
		    traits[i].is, 1e-9);
}

/* The response to creating a soul equals its entry in the list. */
TEST(a_soul_is_created_and_listed)
{
	static const char *const same[] = { "soul_id", "user_id", "name",
		"mbti_type", "personality_vector", "model_version",
		"created_at" };
	json_t *made, *all, *listed;
	struct gateway_fixture b;
	size_t i;

	gateway_fixture_start(&b, NULL);
	made = gw_json(
	    &b, CREATE, "{\"name\":\" 小灵 \",\"mbti_type\":\" infj\"}");
	ck_assert_str_eq(tk_text(made, "name"), "小灵");
	ck_assert_str_eq(tk_text(made, "mbti_type"), "INFJ");
	ck_assert_str_eq(tk_text(made, "user_id"), DEFAULT);
	ck_assert_str_eq(tk_text(made, "model_version"), "persona-pad-v3");
	ck_assert_int_eq(strncmp(tk_text(made, "soul_id"), "soul_", 5), 0);
	ck_assert_uint_eq(strlen(tk_text(made, "soul_id")), 5 + 32);
	ck_assert_uint_eq(
	    strspn(tk_text(made, "soul_id") + 5, "0123456789abcdef"), 32);
	ck_assert_double_eq(tk_number(made, "emotion_state.p"), 0);
	ck_assert_double_eq(tk_number(made, "emotion_state.drift.empathy"), 0);
	ck_assert_str_eq(tk_text(made, "emotion_state.last_updated_at"),
	    tk_text(made, "created_at"));
	is_infj(made);
	all = gw_json(&b, "GET", SOULS, NULL);
	ck_assert_str_eq(tk_text(all, "user_id"), DEFAULT);
	ck_assert_uint_eq(json_array_size(tk_at(all, "items")), 1);
	listed = json_array_get(tk_at(all, "items"), 0);
	for (i = 0; i < NELEM(same); i++)
		ck_assert_msg(
		    json_equal(tk_at(made, same[i]), tk_at(listed, same[i])),
		    "%s", same[i]);
	ck_assert_str_eq(tk_text(listed, "emotion_state.last_interaction_at"),
	    tk_text(made, "emotion_state.last_interaction_at"));
	json_decref(made);
	json_decref(all);
	gateway_fixture_stop(&b);
}

TEST(soul_names_are_unique_per_user)
{
	char a[GW_SOUL_ID], c[GW_SOUL_ID], d[GW_SOUL_ID];
	struct gateway_fixture b;
	json_t *j;

	gateway_fixture_start(&b, NULL);
	gw_soul(&b, "ann", "friendly", a);
	gw_soul(&b, "bob", "friendly", c);
	gw_soul(&b, "ann", "stern", d);
	gw_rejects(&b, CREATE,
	    "{\"user_id\":\"ann\",\"name\":\" friendly\","
	    "\"mbti_type\":\"ENTP\"}",
	    400, "soul name already exists: friendly");
	j = gw_json(&b, "GET", SOULS "?user_id=ann", NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), 2);
	ck_assert_str_eq(
	    tk_text(json_array_get(tk_at(j, "items"), 0), "soul_id"), a);
	ck_assert_str_eq(
	    tk_text(json_array_get(tk_at(j, "items"), 1), "soul_id"), d);
	json_decref(j);
	j = gw_json(&b, "GET", SOULS "?user_id=missing", NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), 0);
	json_decref(j);
	/* The name can be used again. */
	gw_rejects(&b, "DELETE", SOULS "/soul_x?user_id=ann", NULL, 404,
	    "soul not found");
	gateway_fixture_stop(&b);
}

static void
put_memory(struct gateway_fixture *b, const char *user, const char *soul)
{
	const struct memory_scope scope = { str_of(user), str_of(soul) };
	const struct memory_item item = { .id = STR("m1"),
		.json = STR("{\"text\":\"x\"}") };

	ck_assert_int_eq(
	    memory_put(b->db.s, &scope, &item, clock_wall()), RC_OK);
}

static size_t
memories(struct gateway_fixture *b, const char *user, const char *soul)
{
	const struct memory_scope scope = { str_of(user), str_of(soul) };
	struct memory_list l;

	arena_reset(b->db.arena);
	ck_assert_int_eq(
	    memory_all(b->db.s, &scope, -1, b->db.arena, &l), RC_OK);
	return l.n;
}

TEST(a_deleted_soul_leaves_no_data)
{
	char id[GW_SOUL_ID], path[128], other[128];
	struct gateway_fixture b;
	json_t *j;

	gateway_fixture_start(&b, NULL);
	gw_soul(&b, "ann", "friendly", id);
	gw_bind_ok(&b, "ann", "t1", id);
	put_memory(&b, "ann", id);
	ck_assert_uint_eq(memories(&b, "ann", id), 1);
	snprintf(path, sizeof(path), SOULS "/%s?user_id=ann", id);
	snprintf(other, sizeof(other), SOULS "/%s?user_id=bob", id);
	gw_rejects(&b, "DELETE", other, NULL, 404, "soul not found");
	ck_assert_uint_eq(memories(&b, "ann", id), 1);
	j = gw_json(&b, "DELETE", path, NULL);
	ck_assert(json_is_true(tk_at(j, "ok")));
	json_decref(j);
	gw_rejects(&b, "DELETE", path, NULL, 404, "soul not found");
	ck_assert_uint_eq(memories(&b, "ann", id), 0);
	gw_rejects(&b, "GET", "/v1/terminals/t1?user_id=ann", NULL, 404,
	    "terminal not found");
	j = gw_json(&b, "GET", SOULS "?user_id=ann", NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), 0);
	json_decref(j);
	gw_soul(&b, "ann", "friendly", id);
	gateway_fixture_stop(&b);
}

/* Delete a soul, with the test replying for memory-worker. */
static int
delete_with_reply(struct gateway_fixture *b, natsSubscription *sub,
    const char *id, const char *answer)
{
	struct tk_response a = { 0 };
	struct tk_http c = { 0 };
	char path[128];
	natsMsg *m;
	json_t *j;
	int status;

	snprintf(path, sizeof(path), SOULS "/%s?user_id=ann", id);
	gw_send(b, &c, "DELETE", path, NULL);
	ck_assert_int_eq(natsSubscription_NextMsg(&m, sub, GW_MS), NATS_OK);
	j = tk_nats_json(m);
	ck_assert_str_eq(tk_text(j, "user_id"), "ann");
	ck_assert_str_eq(tk_text(j, "soul_id"), id);
	json_decref(j);
	tk_nats_send(b->nc, natsMsg_GetReply(m), answer);
	natsMsg_Destroy(m);
	ck_assert(tk_http_read(&c, &a, GW_MS));
	status = a.status;
	tk_http_close(&c);
	tk_response_free(&a);
	return status;
}

/* The soul exists until all stores have deleted its memories. */
TEST(memories_are_deleted_before_the_soul)
{
	natsSubscription *sub;
	char id[GW_SOUL_ID];
	struct gateway_fixture b;

	gateway_fixture_start(&b, NULL);
	gw_soul(&b, "ann", "friendly", id);
	sub = tk_nats_listen(b.nc, "soul.rpc.memory.forget");
	ck_assert_int_eq(delete_with_reply(&b, sub, id, "[]"), 500);
	ck_assert_int_eq(
	    delete_with_reply(&b, sub, id, "{\"forgotten\":3}"), 200);
	gw_soul(&b, "ann", "friendly", id);
	natsSubscription_Destroy(sub);
	gateway_fixture_stop(&b);
}

/* Only requests that need emotion-engine fail without it. */
TEST(souls_are_created_without_emotion_engine)
{
	char id[GW_SOUL_ID];
	struct gateway_fixture b;
	json_t *j;

	gateway_fixture_start_alone(&b, NULL);
	gw_soul(&b, NULL, "friendly", id);
	gw_bind_ok(&b, DEFAULT, "t1", id);
	gw_rejects(
	    &b, "GET", SOULS, NULL, 503, "emotion-engine does not answer");
	gateway_fixture_spawn(&b, &b.engine, "emotion-engine", NULL);
	j = gw_json(&b, "GET", SOULS, NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), 1);
	json_decref(j);
	gateway_fixture_stop(&b);
}

/* A soul with an unreadable state is named, so that it can be deleted. */
TEST(an_unreadable_soul_is_named_in_the_error)
{
	const struct soul broken = { .id = STR("soul_broken"),
		.user_id = STR("ann"),
		.name = STR("broken"),
		.mbti_type = STR("INFP"),
		.model = STR("persona-pad-v2"),
		.created = { 1 } };
	char id[GW_SOUL_ID];
	struct gateway_fixture b;

	gateway_fixture_start(&b, NULL);
	gw_soul(&b, "ann", "friendly", id);
	ck_assert_int_eq(
	    soul_create(b.db.s, &broken, STR("not a state")), RC_OK);
	gw_rejects(&b, "GET", SOULS "?user_id=ann", NULL, 500,
	    "the emotion of soul soul_broken cannot be read");
	gw_ok(&b, "DELETE", SOULS "/soul_broken?user_id=ann", NULL);
	gw_ok(&b, "GET", SOULS "?user_id=ann", NULL);
	gateway_fixture_stop(&b);
}

/* A name of 124 code points. */
static void
long_name(char dst[512], int i)
{
	size_t at = (size_t)snprintf(dst, 512, "%04d", i);

	while (at < 4 + 120 * 3) {
		memcpy(dst + at, "灵", 4);
		at += 3;
	}
}

static void
put_many(struct gateway_fixture *b, const char *user, int n)
{
	char id[GW_SOUL_ID], name[512];
	struct soul soul = { .user_id = str_of(user),
		.mbti_type = STR("ESTJ"),
		.model = STR("persona-pad-v2") };
	int i;

	for (i = 0; i < n; i++) {
		snprintf(id, sizeof(id), "soul_%032d", i);
		long_name(name, i);
		soul.id = str_of(id);
		soul.name = str_of(name);
		soul.created.ms = 1700000000000 + i;
		ck_assert_int_eq(soul_create(b->db.s, &soul, STR("")), RC_OK);
	}
}

/* The maximum number: a response of more than 1 MiB. */
TEST_T(the_limit_of_a_thousand_souls_is_enforced, 60)
{
	struct tk_response a = { 0 };
	char name[512];
	struct gateway_fixture b;
	json_t *j;

	gateway_fixture_start(&b, NULL);
	long_name(name, 999);
	put_many(&b, "ann", SOUL_LIST_MAX);
	ck_assert_int_eq(
	    gw_request(&b, &a, "GET", SOULS "?user_id=ann", NULL), 200);
	ck_assert_uint_gt(a.body.n, 1024 * 1024);
	j = gw_response_json(&a, 200);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), SOUL_LIST_MAX);
	ck_assert_str_eq(
	    tk_text(json_array_get(tk_at(j, "items"), 999), "name"), name);
	json_decref(j);
	tk_response_free(&a);
	gw_rejects(&b, CREATE,
	    "{\"user_id\":\"ann\",\"name\":\"x\",\"mbti_type\":\"ESTJ\"}", 409,
	    "a user has at most 1000 souls");
	gateway_fixture_stop(&b);
}
