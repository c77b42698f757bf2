/*
 * chroma_life: what must be so with a Chroma server, a real one or not.
 */
#ifndef CHROMA_LIFE_H
#define CHROMA_LIFE_H

#include "talk.h"

static inline void
life_workers(struct bed *b, int port)
{
	static char url[64];

	snprintf(url, sizeof(url), "CHROMA_URL=http://127.0.0.1:%d", port);
	b->more[0] = "MEMORY_BACKEND=chroma";
	b->more[1] = url;
	b->more[2] = "MEMORY_JOB_ACK_WAIT_SECONDS=0.7";
	b->more[3] = "MEMORY_JOB_MAX_DELIVERIES=1000";
}

/* How many are recalled; text is of the best, NULL: any. */
static inline size_t
life_recall(struct bed *b, const char *user, const char *soul,
    const char *query, const char *text, bool degraded)
{
	json_t *j = bed_recall_as(b, user, soul, query, 10);
	size_t n = hits(j);

	ck_assert_str_eq(
	    json_string_value(json_object_get(j, "backend")), "chroma");
	ck_assert_int_eq(
	    json_is_true(json_object_get(j, "degraded")), degraded);
	if (text != NULL)
		ck_assert_str_eq(hit_text(j, 0), text);
	json_decref(j);
	return n;
}

static inline int64_t
life_forget(struct bed *b, json_t *req)
{
	json_t *j = bed_rpc(b, "soul.rpc.memory.forget", req);
	int64_t n = json_integer_value(json_object_get(j, "forgotten"));

	json_decref(j);
	return n;
}

static inline bool
life_ready(void *arg)
{
	json_t *j = bed_rpc(arg, "soul.rpc.memory.ready", json_pack("{}"));
	bool is = json_is_true(json_object_get(j, "ready"));

	json_decref(j);
	return is;
}

static inline void
life_done(struct bed *b)
{
	ck_assert(tk_until(all_done, b, BED_MS));
}

/* Facts, questions, forgetting; nobody reads across. */
static inline void
life(struct bed *b)
{
	static const char tagged[] =
	    "{\"job_id\":\"tags\",\"kind\":\"memory_store\",\"user_id\":\"u1\","
	    "\"soul_id\":\"s2\",\"text\":\"用户在学 Python\",\"type\":\"skill\","
	    "\"tags\":[\"Python\",\"编程 语言\"],"
	    "\"created_at\":\"2026-02-22T10:20:30Z\"}";
	json_t *j;

	ck_assert(tk_until(life_ready, b, BED_MS));
	bed_soul(b, "s2", "u1");
	bed_job(b, "tea", "s1", "用户喜欢乌龙茶");
	bed_job(b, "cat", "s1", "用户的猫叫小花");
	bed_job(b, "trip", "s1", "用户要去大理旅行");
	/* The same id of another soul's job is another memory. */
	bed_publish(b, "tea2",
	    "{\"job_id\":\"tea\",\"kind\":\"memory_store\",\"user_id\":\"u1\","
	    "\"soul_id\":\"s2\",\"text\":\"用户喜欢红茶\",\"type\":\"fact\","
	    "\"created_at\":\"2026-02-22T10:20:30Z\"}");
	bed_publish(b, "tags", tagged);
	life_done(b);
	ck_assert_uint_eq(
	    life_recall(b, "u1", "s1", "喝什么乌龙茶", "用户喜欢乌龙茶", false),
	    3);
	ck_assert_uint_eq(
	    life_recall(b, "u1", "s2", "红茶", "用户喜欢红茶", false), 2);
	ck_assert_uint_eq(life_recall(b, "u2", "s1", "茶", NULL, false), 0);
	j = bed_recall_as(b, "u1", "s2", "python", 1);
	ck_assert_uint_eq(hits(j), 1);
	ck_assert_str_eq(
	    json_string_value(json_object_get(
		json_array_get(json_object_get(j, "items"), 0), "type")),
	    "skill");
	ck_assert_str_eq(
	    json_string_value(json_object_get(
		json_array_get(json_object_get(j, "items"), 0), "created_at")),
	    "2026-02-22T10:20:30Z");
	json_decref(j);
	/* Forgetting: one, of whom it is; the best; all. */
	ck_assert_int_eq(life_forget(b,
			     json_pack("{ssssss}", "user_id", "u2", "soul_id",
				 "s1", "memory_id", "tea")),
	    0);
	ck_assert_int_eq(life_forget(b,
			     json_pack("{ssssss}", "user_id", "u1", "soul_id",
				 "s1", "memory_id", "tea")),
	    1);
	ck_assert_uint_eq(life_recall(b, "u1", "s1", "茶", NULL, false), 2);
	ck_assert_int_eq(life_forget(b,
			     json_pack("{ssss}", "user_id", "u1", "query",
				 "忘掉去大理旅行")),
	    1);
	ck_assert_uint_eq(life_recall(b, "u1", "s2", "茶", NULL, false), 2);
	ck_assert_int_eq(life_forget(b, json_pack("{ss}", "user_id", "u1")), 3);
	ck_assert_uint_eq(life_recall(b, "u1", "s1", "茶", NULL, false), 0);
	ck_assert_uint_eq(life_recall(b, "u1", "s2", "茶", NULL, false), 0);
	/* A late job does not bring it back. */
	bed_publish(b, "tags again", tagged);
	life_done(b);
	ck_assert_uint_eq(life_recall(b, "u1", "s2", "茶", NULL, false), 0);
	ck_assert_int_eq(bed_stream(b, "SOUL_DEAD"), 0);
}

/* Many of one scope: found among them, and forgotten to the last. */
static inline void
life_many(struct bed *b, size_t n)
{
	char id[16], text[64];
	size_t i;

	for (i = 0; i < n; i++) {
		snprintf(id, sizeof(id), "m%zu", i);
		snprintf(text, sizeof(text), "第%zu件事", i);
		bed_job(b, id, "s1", text);
	}
	bed_job(b, "found", "s1", "用户喜欢乌龙茶");
	life_done(b);
	ck_assert_uint_eq(
	    life_recall(b, "u1", "s1", "乌龙茶", "用户喜欢乌龙茶", false), 10);
	ck_assert_int_eq(
	    life_forget(
		b, json_pack("{ssss}", "user_id", "u1", "soul_id", "s1")),
	    (int64_t)n + 1);
	ck_assert_uint_eq(life_recall(b, "u1", "s1", "茶", NULL, false), 0);
}

#endif /* !CHROMA_LIFE_H */
