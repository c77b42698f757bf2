/*
 * Vectors of an embedding model: stored with memories, created later if
 * missing, and not used while the model is unavailable.
 */
#include "testkit/memory_fixture.h"

static struct str
vector_of(struct memory_fixture *fx, size_t i)
{
	struct memory_list l = memory_fixture_memories(fx);

	ck_assert_uint_lt(i, l.n);
	return l.item[i].vector;
}

struct recalled {
	struct memory_fixture *fx;
	bool degraded;
};

static bool
is_degraded(void *arg)
{
	struct recalled *r = arg;
	json_t *j = memory_fixture_recall(r->fx, "u1", "s1", "喝什么茶", 5);
	bool is = json_is_true(json_object_get(j, "degraded"));

	ck_assert_uint_ge(memory_fixture_hits(j), 1);
	ck_assert_str_eq(memory_fixture_hit_text(j, 0), "用户喜欢乌龙茶");
	json_decref(j);
	return is == r->degraded;
}

static void
ck_degraded(struct memory_fixture *fx, bool degraded)
{
	struct recalled r = { fx, degraded };

	ck_assert(tk_until(is_degraded, &r, MEMORY_FIXTURE_MS));
}

static void
spawn_with(struct memory_fixture *fx, const char *model)
{
	static char url[96];

	snprintf(url, sizeof(url), "EMBEDDINGS_BASE_URL=%s", fx->llm_url);
	fx->env[0] = url;
	fx->env[1] = model;
	memory_fixture_spawn_ready(fx, 0);
}

TEST_T(vectors_are_stored_with_memories, 60)
{
	struct recalled r = { .degraded = false };
	struct memory_fixture fx;

	memory_fixture_servers(&fx);
	memory_fixture_llm_start(&fx);
	r.fx = &fx;
	spawn_with(&fx, "EMBEDDINGS_MODEL=one");
	memory_fixture_publish_fact(&fx, "tea", "s1", "用户喜欢乌龙茶");
	memory_fixture_publish_fact(&fx, "cat", "s1", "用户的猫叫小花");
	memory_fixture_wait_memories(&fx, 2);
	ck_assert(str_starts(vector_of(&fx, 0), STR("one\0")));
	ck_assert_uint_gt(vector_of(&fx, 1).n, 60);
	ck_assert(is_degraded(&r));
	ck_assert_int_eq(
	    tk_service_metric(&fx.worker[0], "soul_memory_degraded_total"), 0);
	memory_fixture_stop(&fx);
}

TEST_T(missing_vectors_are_created_later, 60)
{
	struct memory_fixture fx;

	memory_fixture_servers(&fx);
	memory_fixture_llm_start(&fx);
	spawn_with(&fx, "EMBEDDINGS_MODEL=one");
	memory_fixture_publish_fact(&fx, "tea", "s1", "用户喜欢乌龙茶");
	memory_fixture_wait_memories(&fx, 1);
	ck_degraded(&fx, false);
	tk_service_kill(&fx.llm);
	ck_degraded(&fx, true);
	/* A memory that arrives meanwhile is stored without a vector. */
	memory_fixture_publish_fact(&fx, "cat", "s1", "用户的猫叫小花");
	memory_fixture_wait_memories(&fx, 2);
	ck_assert_uint_eq(vector_of(&fx, 1).n, 0);
	memory_fixture_llm_start(&fx);
	ck_degraded(&fx, false);
	ck_assert_uint_gt(vector_of(&fx, 1).n, 60);
	memory_fixture_stop(&fx);
}

/* Vectors of two models are never compared. */
TEST_T(vectors_of_another_model_are_replaced, 60)
{
	char id[16], text[64];
	struct memory_list l;
	struct memory_fixture fx;
	size_t i;

	memory_fixture_servers(&fx);
	memory_fixture_llm_start(&fx);
	spawn_with(&fx, "EMBEDDINGS_MODEL=one");
	memory_fixture_publish_fact(&fx, "tea", "s1", "用户喜欢乌龙茶");
	for (i = 0; i < 20; i++) {
		snprintf(id, sizeof(id), "m%zu", i);
		snprintf(text, sizeof(text), "第%zu件别的事", i);
		memory_fixture_publish_fact(&fx, id, "s1", text);
	}
	memory_fixture_wait_memories(&fx, 21);
	tk_service_end(&fx.worker[0]);
	spawn_with(&fx, "EMBEDDINGS_MODEL=two");
	ck_degraded(&fx, true);
	ck_degraded(&fx, false);
	l = memory_fixture_memories(&fx);
	ck_assert_uint_eq(l.n, 21);
	for (i = 0; i < l.n; i++)
		ck_assert(str_starts(l.item[i].vector, STR("two\0")));
	memory_fixture_stop(&fx);
}
