/* Search and readiness over NATS. */
#include <signal.h>

#include "core/mem.h"
#include "testkit/memory_fixture.h"

static json_t *
recall(struct memory_fixture *fx, const char *query)
{
	return memory_fixture_recall(fx, "u1", "s1", query, 10);
}

/* Check the text of the best result. */
static void
ck_best(struct memory_fixture *fx, const char *query, const char *text)
{
	json_t *j = recall(fx, query);

	ck_assert_uint_ge(memory_fixture_hits(j), 1);
	ck_assert_str_eq(memory_fixture_hit_text(j, 0), text);
	json_decref(j);
}

static void
ck_hits(struct memory_fixture *fx, const char *user, const char *soul, size_t n)
{
	json_t *j = memory_fixture_recall(fx, user, soul, "秘密", 10);

	ck_assert_uint_eq(memory_fixture_hits(j), n);
	json_decref(j);
}

TEST_T(a_search_returns_the_best, 60)
{
	struct memory_fixture fx;
	json_t *j, *item;
	size_t i;
	char id[16], text[64];

	memory_fixture_start(&fx, 1);
	j = recall(&fx, "茶");
	ck_assert_uint_eq(memory_fixture_hits(j), 0);
	json_decref(j);
	for (i = 0; i < 12; i++) {
		snprintf(id, sizeof(id), "m%zu", i);
		snprintf(text, sizeof(text), "第%zu件事", i);
		memory_fixture_remember(&fx, "u1", "s1", id, text);
	}
	memory_fixture_remember(&fx, "u1", "s1", "tea", "用户喜欢乌龙茶");
	j = recall(&fx, "乌龙茶");
	ck_assert_uint_eq(memory_fixture_hits(j), 10);
	ck_assert_str_eq(tk_text(j, "backend"), "builtin");
	ck_assert(json_is_false(json_object_get(j, "degraded")));
	item = memory_fixture_item(j, 0);
	ck_assert_str_eq(tk_text(item, "memory_id"), "tea");
	ck_assert_str_eq(tk_text(item, "type"), "fact");
	ck_assert_double_gt(tk_number(item, "score"), 0.9);
	ck_assert_ptr_nonnull(json_object_get(item, "created_at"));
	json_decref(j);
	j = memory_fixture_recall(&fx, "u1", "s1", "乌龙茶", 3);
	ck_assert_uint_eq(memory_fixture_hits(j), 3);
	json_decref(j);
	/* The default is five. */
	j = memory_fixture_rpc(&fx, "soul.rpc.memory.recall",
	    json_pack(
		"{ssssss}", "user_id", "u1", "soul_id", "s1", "query", "茶"));
	ck_assert_uint_eq(memory_fixture_hits(j), 5);
	json_decref(j);
	memory_fixture_stop(&fx);
}

TEST_T(invalid_requests_are_rejected, 60)
{
	static const struct {
		const char *subject, *body, *path;
	} bad[] = {
		{ "recall", "{", "" },
		{ "recall", "{\"user_id\":\"u1\",\"soul_id\":\"s1\"}",
		    "/query" },
		{ "recall", "{\"user_id\":\"u1\",\"query\":\"x\"}",
		    "/soul_id" },
		{ "recall", "{\"soul_id\":\"s1\",\"query\":\"x\"}",
		    "/user_id" },
		{ "recall",
		    "{\"user_id\":\"u1\",\"soul_id\":\"s1\",\"query\":\"\"}",
		    "/query" },
		{ "recall",
		    "{\"user_id\":\"u1\",\"soul_id\":\"s1\",\"query\":\"x\","
		    "\"top_k\":11}",
		    "/top_k" },
		{ "recall",
		    "{\"user_id\":\"u1\",\"soul_id\":\"s1\",\"query\":\"x\","
		    "\"top_k\":0}",
		    "/top_k" },
		{ "forget", "{}", "/user_id" },
		{ "forget", "{\"user_id\":\"u1\",\"query\":\"\"}", "/query" },
	};
	char subject[64], code[64];
	struct memory_fixture fx;
	json_t *j;
	size_t i;

	memory_fixture_start(&fx, 1);
	for (i = 0; i < NELEM(bad); i++) {
		snprintf(subject, sizeof(subject), "soul.rpc.memory.%s",
		    bad[i].subject);
		j = tk_nats_request(fx.nc, subject, bad[i].body, code);
		ck_assert_str_eq(code, "invalid_request");
		ck_assert_msg(strncmp(tk_text(j, "error"), bad[i].path,
				  strlen(bad[i].path)) == 0,
		    "%s", tk_text(j, "error"));
		json_decref(j);
	}
	memory_fixture_stop(&fx);
}

TEST_T(scopes_are_separate, 60)
{
	/* Ids that a careless key would confuse. */
	static const struct {
		const char *user, *soul;
	} who[] = {
		{ "u1", "s1" },
		{ "u1", "s2" },
		{ "u2", "s1" },
		{ "u2", "s2" },
		{ "u1:s1", "s1" },
		{ "u1", "s1:s1" },
		{ "u1}", "{s1" },
		{ "u1*", "s1" },
		{ "u", "1s1" },
		{ "U1", "S1" },
		{ "u1 ", "s1" },
		{ "用户", "灵魂" },
	};
	char text[64];
	struct memory_fixture fx;
	json_t *j;
	size_t i;

	memory_fixture_start(&fx, 1);
	for (i = 0; i < NELEM(who); i++) {
		snprintf(text, sizeof(text), "秘密是%zu", i);
		memory_fixture_remember(
		    &fx, who[i].user, who[i].soul, "m", text);
	}
	/* Twice: loaded, and from the index. */
	for (i = 0; i < 2 * NELEM(who); i++) {
		snprintf(text, sizeof(text), "秘密是%zu", i % NELEM(who));
		j = memory_fixture_recall(&fx, who[i % NELEM(who)].user,
		    who[i % NELEM(who)].soul, "秘密", 10);
		ck_assert_uint_eq(memory_fixture_hits(j), 1);
		ck_assert_str_eq(memory_fixture_hit_text(j, 0), text);
		json_decref(j);
	}
	ck_hits(&fx, "u3", "s1", 0);
	ck_hits(&fx, "u1", "s3", 0);
	/* Forgetting respects scopes, too. */
	j = memory_fixture_forget_reply(&fx, "u3", "s1", "memory_id", "m");
	ck_assert_int_eq(tk_int(j, "forgotten"), 0);
	json_decref(j);
	j = memory_fixture_forget_reply(&fx, "u1", "s1", NULL, NULL);
	ck_assert_int_eq(tk_int(j, "forgotten"), 1);
	json_decref(j);
	for (i = 0; i < NELEM(who); i++)
		ck_hits(&fx, who[i].user, who[i].soul, i == 0 ? 0 : 1);
	memory_fixture_stop(&fx);
}

TEST_T(memories_of_other_writers_are_found, 60)
{
	char id[16], text[64];
	struct memory_fixture fx;
	int i;

	memory_fixture_start(&fx, 2);
	for (i = 0; i < 50; i++) {
		snprintf(id, sizeof(id), "m%d", i);
		snprintf(text, sizeof(text), "密码是%d号", 1000 + i);
		memory_fixture_remember(&fx, "u1", "s1", id, text);
		/* Any replica may reply. */
		snprintf(id, sizeof(id), "密码%d", 1000 + i);
		ck_best(&fx, id, text);
		ck_best(&fx, id, text);
	}
	memory_fixture_stop(&fx);
}

/* An index follows the store after small and large changes. */
TEST_T(an_index_follows_the_store, 60)
{
	struct memory_scope scope = { STR("u1"), STR("s1") };
	char id[32], text[64];
	struct memory_fixture fx;
	int i, k = 0;

	memory_fixture_start(&fx, 1);
	memory_fixture_remember(&fx, "u1", "s1", "stays", "密码是永远");
	ck_best(&fx, "密码", "密码是永远");
	for (i = 1; i <= 150; i += 29) {
		while (k < i) {
			snprintf(id, sizeof(id), "m%d", k++);
			snprintf(text, sizeof(text), "密码是%d号", 1000 + k);
			memory_fixture_remember(&fx, "u1", "s1", id, text);
		}
		snprintf(id, sizeof(id), "密码%d", 1000 + k);
		ck_best(&fx, id, text);
		snprintf(id, sizeof(id), "m%d", k - 1);
		ck_assert_int_eq(
		    memory_forget(fx.db.s, &scope, str_of(id)), RC_OK);
		ck_best(&fx, "永远", "密码是永远");
		json_t *j = recall(&fx, text);
		ck_assert_str_ne(memory_fixture_hit_text(j, 0), text);
		json_decref(j);
	}
	memory_fixture_stop(&fx);
}

/* ---- readiness ---- */

static bool
is_ready(struct memory_fixture *fx, char reason[64])
{
	json_t *j =
	    memory_fixture_rpc(fx, "soul.rpc.memory.ready", json_pack("{}"));
	bool ready = json_is_true(json_object_get(j, "ready"));

	ck_assert_str_eq(tk_text(j, "backend"), "builtin");
	snprintf(reason, 64, "%s", tk_find_text(j, "reason"));
	json_decref(j);
	return ready;
}

struct readiness {
	struct memory_fixture *fx;
	bool want;
	char reason[64];
};

static bool
readiness_is(void *arg)
{
	struct readiness *r = arg;

	return is_ready(r->fx, r->reason) == r->want;
}

static int64_t
redis_int(struct memory_fixture *fx, const struct str *args, size_t n)
{
	struct state_reply *r;
	int64_t v;

	ck_assert_int_eq(state_cmd(fx->db.s, args, n, &r), RC_OK);
	v = state_reply_int(r);
	state_reply_free(r);
	return v;
}

TEST_T(readiness_stores_and_finds_a_probe, 60)
{
	static const struct str version[] = { STR_INIT("HEXISTS"),
		STR_INIT("soul:memory:{b0061}:soul-probe:memory-worker"),
		STR_INIT("ver") };
	static const struct str items[] = { STR_INIT("EXISTS"),
		STR_INIT(
		    "soul:memory:{b0061}:soul-probe:memory-worker:items") };
	struct readiness r = { .want = false };
	struct memory_fixture fx;
	int i;

	memory_fixture_start(&fx, 1);
	r.fx = &fx;
	ck_assert_int_eq(redis_int(&fx, version, NELEM(version)), 0);
	ck_assert(is_ready(&fx, r.reason));
	ck_assert_str_eq(r.reason, "");
	/* The probe stored something and deleted it. */
	ck_assert_int_eq(redis_int(&fx, version, NELEM(version)), 1);
	ck_assert_int_eq(redis_int(&fx, items, NELEM(items)), 0);
	/* But not for every request. */
	ck_assert_int_eq(
	    redis_int(&fx,
		STATE_ARGS(STR("DEL"),
		    STR("soul:memory:{b0061}:soul-probe:memory-worker"))),
	    1);
	for (i = 0; i < 100; i++)
		ck_assert(is_ready(&fx, r.reason));
	ck_assert_int_eq(redis_int(&fx, version, NELEM(version)), 0);

	tk_server_stop(&fx.redis, SIGKILL);
	ck_assert(tk_until(readiness_is, &r, MEMORY_FIXTURE_MS));
	ck_assert_str_eq(r.reason, "Redis does not answer");
	tk_server_restart(&fx.redis);
	r.want = true;
	ck_assert(tk_until(readiness_is, &r, MEMORY_FIXTURE_MS));
	tk_state_wait(&fx.db);
	ck_assert_int_eq(redis_int(&fx, version, NELEM(version)), 1);
	memory_fixture_stop(&fx);
}

TEST_T(an_unknown_format_is_not_ready, 60)
{
	char reason[64], code[64];
	struct memory_fixture fx;
	json_t *j;

	memory_fixture_start(&fx, 1);
	(void)redis_int(&fx,
	    STATE_ARGS(STR("HSET"),
		STR("soul:memory:{b0061}:soul-probe:memory-worker"), STR("v"),
		STR("99")));
	ck_assert(!is_ready(&fx, reason));
	ck_assert_str_eq(reason, "storing or searching failed");
	(void)redis_int(&fx,
	    STATE_ARGS(STR("HSET"), STR("soul:memory:{b0478}:u1:s1"), STR("v"),
		STR("99")));
	j = tk_nats_request(fx.nc, "soul.rpc.memory.recall",
	    "{\"user_id\":\"u1\",\"soul_id\":\"s1\",\"query\":\"x\"}", code);
	ck_assert_str_eq(code, "internal");
	json_decref(j);
	memory_fixture_stop(&fx);
}

TEST_T(without_redis_requests_fail, 60)
{
	struct readiness r = { .want = false };
	char code[64];
	struct memory_fixture fx;
	json_t *j;

	memory_fixture_start(&fx, 1);
	r.fx = &fx;
	tk_server_stop(&fx.redis, SIGKILL);
	ck_assert(tk_until(readiness_is, &r, MEMORY_FIXTURE_MS));
	j = tk_nats_request(fx.nc, "soul.rpc.memory.recall",
	    "{\"user_id\":\"u1\",\"soul_id\":\"s1\",\"query\":\"x\"}", code);
	ck_assert_str_eq(code, "unavailable");
	ck_assert_str_eq(
	    tk_text(j, "error"), "the memory store does not answer");
	json_decref(j);
	j = tk_nats_request(
	    fx.nc, "soul.rpc.memory.forget", "{\"user_id\":\"u1\"}", code);
	ck_assert_str_eq(code, "unavailable");
	json_decref(j);
	tk_server_restart(&fx.redis);
	tk_state_wait(&fx.db);
	memory_fixture_stop(&fx);
}

TEST_T(the_index_cache_is_limited, 60)
{
	static char text[900];
	char soul[16], id[16];
	struct memory_fixture fx;
	json_t *j;
	int i, k;

	memory_fixture_servers(&fx);
	memory_fixture_llm_start(&fx);
	fx.env[0] = "MEMORY_CACHE_MB=1";
	memory_fixture_spawn_ready(&fx, 0);
	memset(text, 'x', sizeof(text) - 1);
	for (i = 0; i < 40; i++) {
		snprintf(soul, sizeof(soul), "soul%d", i);
		for (k = 0; k < 50; k++) {
			snprintf(id, sizeof(id), "m%d", k);
			memory_fixture_remember(&fx, "u1", soul, id, text);
		}
	}
	for (i = 0; i < 80; i++) {
		snprintf(soul, sizeof(soul), "soul%d", i % 40);
		j = memory_fixture_recall(&fx, "u1", soul, "x", 1);
		ck_assert_uint_eq(memory_fixture_hits(j), 1);
		json_decref(j);
		ck_assert_int_le(
		    tk_service_metric(&fx.worker[0], "soul_memory_index_bytes"),
		    1 << 20);
	}
	ck_assert_int_eq(
	    tk_service_metric(&fx.worker[0], "soul_memory_index_loads_total"),
	    80);
	memory_fixture_stop(&fx);
}
