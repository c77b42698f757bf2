/*
 * Searching and readiness, as others ask for them.
 */
#include "talk.h"

static json_t *
recall(struct bed *b, const char *query)
{
	return bed_recall_as(b, "u1", "s1", query, 10);
}

/* The best hit's text must be this. */
static void
ck_best(struct bed *b, const char *query, const char *text)
{
	json_t *j = recall(b, query);

	ck_assert_uint_ge(hits(j), 1);
	ck_assert_str_eq(hit_text(j, 0), text);
	json_decref(j);
}

static void
ck_hits(struct bed *b, const char *user, const char *soul, size_t n)
{
	json_t *j = bed_recall_as(b, user, soul, "秘密", 10);

	ck_assert_uint_eq(hits(j), n);
	json_decref(j);
}

TEST_T(an_answer, 60)
{
	struct bed b;
	json_t *j, *item;
	size_t i;
	char id[16], text[64];

	bed_start(&b, 1);
	j = recall(&b, "茶");
	ck_assert_uint_eq(hits(j), 0);
	json_decref(j);
	for (i = 0; i < 12; i++) {
		snprintf(id, sizeof(id), "m%zu", i);
		snprintf(text, sizeof(text), "第%zu件事", i);
		bed_remember(&b, "u1", "s1", id, text);
	}
	bed_remember(&b, "u1", "s1", "tea", "用户喜欢乌龙茶");
	j = recall(&b, "乌龙茶");
	ck_assert_uint_eq(hits(j), 10);
	ck_assert_str_eq(
	    json_string_value(json_object_get(j, "backend")), "builtin");
	ck_assert(json_is_false(json_object_get(j, "degraded")));
	item = json_array_get(json_object_get(j, "items"), 0);
	ck_assert_str_eq(
	    json_string_value(json_object_get(item, "memory_id")), "tea");
	ck_assert_str_eq(
	    json_string_value(json_object_get(item, "type")), "fact");
	ck_assert_double_gt(
	    json_number_value(json_object_get(item, "score")), 0.9);
	ck_assert_ptr_nonnull(json_object_get(item, "created_at"));
	json_decref(j);
	j = bed_recall_as(&b, "u1", "s1", "乌龙茶", 3);
	ck_assert_uint_eq(hits(j), 3);
	json_decref(j);
	/* Five unless said otherwise. */
	j = bed_rpc(&b, "soul.rpc.memory.recall",
	    json_pack(
		"{ssssss}", "user_id", "u1", "soul_id", "s1", "query", "茶"));
	ck_assert_uint_eq(hits(j), 5);
	json_decref(j);
	bed_stop(&b);
}

TEST_T(what_is_asked_wrongly, 60)
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
	struct bed b;
	json_t *j;
	size_t i;

	bed_start(&b, 1);
	for (i = 0; i < NELEM(bad); i++) {
		snprintf(subject, sizeof(subject), "soul.rpc.memory.%s",
		    bad[i].subject);
		j = tk_nats_ask(b.nc, subject, bad[i].body, code);
		ck_assert_str_eq(code, "invalid_request");
		ck_assert_msg(
		    strncmp(json_string_value(json_object_get(j, "error")),
			bad[i].path, strlen(bad[i].path)) == 0,
		    "%s", json_string_value(json_object_get(j, "error")));
		json_decref(j);
	}
	bed_stop(&b);
}

TEST_T(nobody_reads_across, 60)
{
	/* Ids that a sloppy key would take for one another. */
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
	struct bed b;
	json_t *j;
	size_t i;

	bed_start(&b, 1);
	for (i = 0; i < NELEM(who); i++) {
		snprintf(text, sizeof(text), "秘密是%zu", i);
		bed_remember(&b, who[i].user, who[i].soul, "m", text);
	}
	/* Twice: read, and out of the indexes. */
	for (i = 0; i < 2 * NELEM(who); i++) {
		snprintf(text, sizeof(text), "秘密是%zu", i % NELEM(who));
		j = bed_recall_as(&b, who[i % NELEM(who)].user,
		    who[i % NELEM(who)].soul, "秘密", 10);
		ck_assert_uint_eq(hits(j), 1);
		ck_assert_str_eq(hit_text(j, 0), text);
		json_decref(j);
	}
	ck_hits(&b, "u3", "s1", 0);
	ck_hits(&b, "u1", "s3", 0);
	/* Nor forgets across. */
	j = bed_rpc(&b, "soul.rpc.memory.forget",
	    json_pack("{ssssss}", "user_id", "u3", "soul_id", "s1", "memory_id",
		"m"));
	ck_assert_int_eq(
	    json_integer_value(json_object_get(j, "forgotten")), 0);
	json_decref(j);
	j = bed_rpc(&b, "soul.rpc.memory.forget",
	    json_pack("{ssss}", "user_id", "u1", "soul_id", "s1"));
	ck_assert_int_eq(
	    json_integer_value(json_object_get(j, "forgotten")), 1);
	json_decref(j);
	for (i = 0; i < NELEM(who); i++)
		ck_hits(&b, who[i].user, who[i].soul, i == 0 ? 0 : 1);
	bed_stop(&b);
}

TEST_T(what_another_stored_is_found_at_once, 60)
{
	char id[16], text[64];
	struct bed b;
	int i;

	bed_start(&b, 2);
	for (i = 0; i < 50; i++) {
		snprintf(id, sizeof(id), "m%d", i);
		snprintf(text, sizeof(text), "密码是%d号", 1000 + i);
		bed_remember(&b, "u1", "s1", id, text);
		/* Whichever replica answers. */
		snprintf(id, sizeof(id), "密码%d", 1000 + i);
		ck_best(&b, id, text);
		ck_best(&b, id, text);
	}
	bed_stop(&b);
}

/* An index follows what is stored, be it little or much that has changed. */
TEST_T(an_index_follows, 60)
{
	struct memory_scope scope = { STR("u1"), STR("s1") };
	char id[32], text[64];
	struct bed b;
	int i, k = 0;

	bed_start(&b, 1);
	bed_remember(&b, "u1", "s1", "stays", "密码是永远");
	ck_best(&b, "密码", "密码是永远");
	for (i = 1; i <= 150; i += 29) {
		while (k < i) {
			snprintf(id, sizeof(id), "m%d", k++);
			snprintf(text, sizeof(text), "密码是%d号", 1000 + k);
			bed_remember(&b, "u1", "s1", id, text);
		}
		snprintf(id, sizeof(id), "密码%d", 1000 + k);
		ck_best(&b, id, text);
		snprintf(id, sizeof(id), "m%d", k - 1);
		ck_assert_int_eq(
		    memory_forget(b.db.s, &scope, str_of(id)), RC_OK);
		ck_best(&b, "永远", "密码是永远");
		json_t *j = recall(&b, text);
		ck_assert_str_ne(hit_text(j, 0), text);
		json_decref(j);
	}
	bed_stop(&b);
}

/* ---- readiness --------------------------------------------------------------
 */

static bool
is_ready(struct bed *b, char reason[64])
{
	json_t *j = bed_rpc(b, "soul.rpc.memory.ready", json_pack("{}"));
	bool ready = json_is_true(json_object_get(j, "ready"));
	const char *text = json_string_value(json_object_get(j, "reason"));

	ck_assert_str_eq(
	    json_string_value(json_object_get(j, "backend")), "builtin");
	snprintf(reason, 64, "%s", text != NULL ? text : "");
	json_decref(j);
	return ready;
}

struct readiness {
	struct bed *b;
	bool want;
	char reason[64];
};

static bool
readiness_is(void *arg)
{
	struct readiness *r = arg;

	return is_ready(r->b, r->reason) == r->want;
}

static int64_t
redis_int(struct bed *b, const struct str *args, size_t n)
{
	struct state_reply *r;
	int64_t v;

	ck_assert_int_eq(state_cmd(b->db.s, args, n, &r), RC_OK);
	v = state_reply_int(r);
	state_reply_free(r);
	return v;
}

TEST_T(ready_means_that_it_works, 60)
{
	static const struct str version[] = { STR_INIT("HEXISTS"),
		STR_INIT("soul:memory:{soul-probe:memory-worker}"),
		STR_INIT("ver") };
	static const struct str items[] = { STR_INIT("EXISTS"),
		STR_INIT("soul:memory:{soul-probe:memory-worker}:items") };
	struct readiness r = { .want = false };
	struct bed b;
	int i;

	bed_start(&b, 1);
	r.b = &b;
	ck_assert_int_eq(redis_int(&b, version, NELEM(version)), 0);
	ck_assert(is_ready(&b, r.reason));
	ck_assert_str_eq(r.reason, "");
	/* It has stored something, and nothing of it is left. */
	ck_assert_int_eq(redis_int(&b, version, NELEM(version)), 1);
	ck_assert_int_eq(redis_int(&b, items, NELEM(items)), 0);
	/* But not for each who asks. */
	ck_assert_int_eq(
	    redis_int(&b,
		STATE_ARGS(
		    STR("DEL"), STR("soul:memory:{soul-probe:memory-worker}"))),
	    1);
	for (i = 0; i < 100; i++)
		ck_assert(is_ready(&b, r.reason));
	ck_assert_int_eq(redis_int(&b, version, NELEM(version)), 0);

	tk_server_stop(&b.redis, SIGKILL);
	ck_assert(tk_until(readiness_is, &r, BED_MS));
	ck_assert_str_eq(r.reason, "Redis does not answer");
	tk_server_restart(&b.redis);
	r.want = true;
	ck_assert(tk_until(readiness_is, &r, BED_MS));
	tk_state_wait(&b.db);
	ck_assert_int_eq(redis_int(&b, version, NELEM(version)), 1);
	bed_stop(&b);
}

TEST_T(not_ready_if_it_cannot_be_read, 60)
{
	char reason[64], code[64];
	struct bed b;
	json_t *j;

	bed_start(&b, 1);
	(void)redis_int(&b,
	    STATE_ARGS(STR("HSET"),
		STR("soul:memory:{soul-probe:memory-worker}"), STR("v"),
		STR("99")));
	ck_assert(!is_ready(&b, reason));
	ck_assert_str_eq(reason, "storing or searching failed");
	(void)redis_int(&b,
	    STATE_ARGS(
		STR("HSET"), STR("soul:memory:{u1:s1}"), STR("v"), STR("99")));
	j = tk_nats_ask(b.nc, "soul.rpc.memory.recall",
	    "{\"user_id\":\"u1\",\"soul_id\":\"s1\",\"query\":\"x\"}", code);
	ck_assert_str_eq(code, "internal");
	json_decref(j);
	bed_stop(&b);
}

TEST_T(without_redis_the_answer_says_so, 60)
{
	struct readiness r = { .want = false };
	char code[64];
	struct bed b;
	json_t *j;

	bed_start(&b, 1);
	r.b = &b;
	tk_server_stop(&b.redis, SIGKILL);
	ck_assert(tk_until(readiness_is, &r, BED_MS));
	j = tk_nats_ask(b.nc, "soul.rpc.memory.recall",
	    "{\"user_id\":\"u1\",\"soul_id\":\"s1\",\"query\":\"x\"}", code);
	ck_assert_str_eq(code, "unavailable");
	ck_assert_str_eq(json_string_value(json_object_get(j, "error")),
	    "the memory store does not answer");
	json_decref(j);
	j = tk_nats_ask(
	    b.nc, "soul.rpc.memory.forget", "{\"user_id\":\"u1\"}", code);
	ck_assert_str_eq(code, "unavailable");
	json_decref(j);
	tk_server_restart(&b.redis);
	tk_state_wait(&b.db);
	bed_stop(&b);
}

TEST_T(indexes_make_room, 60)
{
	static char text[900];
	char soul[16], id[16];
	struct bed b;
	json_t *j;
	int i, k;

	bed_servers(&b);
	bed_llm(&b);
	b.more[0] = "MEMORY_CACHE_MB=1";
	bed_spawn(&b, 0);
	bed_ready(&b, 0);
	memset(text, 'x', sizeof(text) - 1);
	for (i = 0; i < 40; i++) {
		snprintf(soul, sizeof(soul), "soul%d", i);
		for (k = 0; k < 50; k++) {
			snprintf(id, sizeof(id), "m%d", k);
			bed_remember(&b, "u1", soul, id, text);
		}
	}
	for (i = 0; i < 80; i++) {
		snprintf(soul, sizeof(soul), "soul%d", i % 40);
		j = bed_recall_as(&b, "u1", soul, "x", 1);
		ck_assert_uint_eq(hits(j), 1);
		json_decref(j);
		ck_assert_int_le(
		    tk_service_metric(&b.worker[0], "soul_memory_index_bytes"),
		    1 << 20);
	}
	ck_assert_int_eq(
	    tk_service_metric(&b.worker[0], "soul_memory_index_loads_total"),
	    80);
	bed_stop(&b);
}
