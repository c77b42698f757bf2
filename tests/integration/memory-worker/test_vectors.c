/*
 * Vectors of an embedding model: kept with the memories, made up for when they
 * are missing, and done without while the model is away.
 */
#include "talk.h"

static struct str
vector_of(struct bed *b, size_t i)
{
	struct memory_list l = bed_memories(b);

	ck_assert_uint_lt(i, l.n);
	return l.item[i].vector;
}

struct recalled {
	struct bed *b;
	bool degraded;
};

static bool
is_degraded(void *arg)
{
	struct recalled *r = arg;
	json_t *j = bed_recall_as(r->b, "u1", "s1", "喝什么茶", 5);
	bool is = json_is_true(json_object_get(j, "degraded"));

	ck_assert_uint_ge(hits(j), 1);
	ck_assert_str_eq(hit_text(j, 0), "用户喜欢乌龙茶");
	json_decref(j);
	return is == r->degraded;
}

static void
ck_degraded(struct bed *b, bool degraded)
{
	struct recalled r = { b, degraded };

	ck_assert(tk_until(is_degraded, &r, BED_MS));
}

static void
spawn_with(struct bed *b, const char *model)
{
	static char url[96];

	snprintf(url, sizeof(url), "EMBEDDINGS_BASE_URL=%s", b->llm_url);
	b->more[0] = url;
	b->more[1] = model;
	bed_spawn(b, 0);
	bed_ready(b, 0);
}

TEST_T(they_are_kept_with_the_memories, 60)
{
	struct recalled r = { .degraded = false };
	struct bed b;

	bed_servers(&b);
	bed_llm(&b);
	r.b = &b;
	spawn_with(&b, "EMBEDDINGS_MODEL=one");
	bed_job(&b, "tea", "s1", "用户喜欢乌龙茶");
	bed_job(&b, "cat", "s1", "用户的猫叫小花");
	bed_wait(&b, 2);
	ck_assert(str_starts(vector_of(&b, 0), STR("one\0")));
	ck_assert_uint_gt(vector_of(&b, 1).n, 60);
	ck_assert(is_degraded(&r));
	ck_assert_int_eq(
	    tk_service_metric(&b.worker[0], "soul_memory_degraded_total"), 0);
	bed_stop(&b);
}

TEST_T(while_the_model_is_away, 60)
{
	struct bed b;

	bed_servers(&b);
	bed_llm(&b);
	spawn_with(&b, "EMBEDDINGS_MODEL=one");
	bed_job(&b, "tea", "s1", "用户喜欢乌龙茶");
	bed_wait(&b, 1);
	ck_degraded(&b, false);
	tk_service_kill(&b.llm);
	ck_degraded(&b, true);
	/* What comes meanwhile is stored, and has no vector. */
	bed_job(&b, "cat", "s1", "用户的猫叫小花");
	bed_wait(&b, 2);
	ck_assert_uint_eq(vector_of(&b, 1).n, 0);
	bed_llm(&b);
	ck_degraded(&b, false);
	ck_assert_uint_gt(vector_of(&b, 1).n, 60);
	bed_stop(&b);
}

/* Vectors of two models are never compared. */
TEST_T(another_model, 60)
{
	char id[16], text[64];
	struct memory_list l;
	struct bed b;
	size_t i;

	bed_servers(&b);
	bed_llm(&b);
	spawn_with(&b, "EMBEDDINGS_MODEL=one");
	bed_job(&b, "tea", "s1", "用户喜欢乌龙茶");
	for (i = 0; i < 20; i++) {
		snprintf(id, sizeof(id), "m%zu", i);
		snprintf(text, sizeof(text), "第%zu件别的事", i);
		bed_job(&b, id, "s1", text);
	}
	bed_wait(&b, 21);
	tk_service_end(&b.worker[0]);
	spawn_with(&b, "EMBEDDINGS_MODEL=two");
	ck_degraded(&b, true);
	ck_degraded(&b, false);
	l = bed_memories(&b);
	ck_assert_uint_eq(l.n, 21);
	for (i = 0; i < l.n; i++)
		ck_assert(str_starts(l.item[i].vector, STR("two\0")));
	bed_stop(&b);
}
