/* Requests to Mem0, and its responses in all formats. */
#include "core/mem.h"
#include "store/store_internal.h"
#include "testkit/testkit.h"

static const struct memory_scope scope = { STR_INIT("u 1"), STR_INIT("s1") };

static struct mem0_scope
make_scope(void)
{
	struct mem0_scope s;

	ck_assert_int_eq(mem0_scope_init(&scope, &s), RC_OK);
	return s;
}

TEST(requests_are_written)
{
	struct str tags[] = { STR_INIT("a\"b") };
	const struct wire_memory_job job = { .job_id = STR("j1"),
		.text = STR("喜欢\n茶"),
		.type = WIRE_MEMORY_TYPE_EPISODE,
		.created_at = STR("2026-02-22T10:20:30Z"),
		.tags = tags,
		.n_tags = 1 };
	struct buf b = BUF_INIT(4096);
	struct mem0_scope s = make_scope();

	mem0_write_put(&s, &job, &b);
	ck_assert_str_eq(b.p,
	    "{\"messages\":[{\"role\":\"user\",\"content\":\"喜欢\\n茶\"}],"
	    "\"user_id\":\"~dSAx\",\"agent_id\":\"s1\",\"metadata\":{"
	    "\"job_id\":\"j1\",\"memory_type\":\"episode\","
	    "\"made_at\":\"2026-02-22T10:20:30Z\",\"tags\":[\"a\\\"b\"]},"
	    "\"infer\":false}");
	buf_reset(&b);
	mem0_write_search(&s, STR("茶?"), 5, &b);
	ck_assert_str_eq(b.p,
	    "{\"query\":\"茶?\",\"filters\":{\"user_id\":\"~dSAx\","
	    "\"agent_id\":\"s1\"},\"user_id\":\"~dSAx\",\"agent_id\":\"s1\","
	    "\"top_k\":5,\"limit\":5,\"threshold\":0}");
	buf_reset(&b);
	mem0_write_clear(&s, &b);
	ck_assert_str_eq(b.p, "/memories?user_id=~dSAx&agent_id=s1");
	buf_reset(&b);
	/* Ids cannot alter the path. */
	ck_assert_int_eq(mem0_write_one(STR("../x"), &b), RC_INVALID);
	ck_assert_int_eq(mem0_write_one(STR(""), &b), RC_INVALID);
	ck_assert_int_eq(mem0_write_one(STR("7c0b-1"), &b), RC_OK);
	ck_assert_str_eq(b.p, "/memories/7c0b-1");
	buf_free(&b);
}

#define ROW(more) "{\"id\":\"m1\",\"memory\":\"茶\"" more "}"

static const struct {
	const char *body;
	enum rc rc;
	size_t n;
} responses[] = {
	{ "{\"results\":[" ROW("") "]}", RC_OK, 1 },
	{ "[" ROW("") "]", RC_OK, 1 },
	{ "{\"memories\":[" ROW("") "]}", RC_OK, 1 },
	{ "{\"results\":[{\"id\":\"m1\",\"data\":{\"memory\":\"茶\"}}]}", RC_OK,
	    1 },
	{ "{\"results\":[{\"id\":\"m1\",\"text\":\"茶\"}]}", RC_OK, 1 },
	{ "{\"results\":[" ROW(
	      ",\"user_id\":\"~dSAx\",\"agent_id\":\"s1\"") "]"
							    "}",
	    RC_OK, 1 },
	{ "{\"results\":[]}", RC_OK, 0 },
	{ "{\"results\":[],\"relations\":[1]}", RC_OK, 0 },
	/* Another scope, at the top or in the metadata; no text; no id. */
	{ "[" ROW(",\"user_id\":\"u2\"") "]", RC_OK, 0 },
	{ "[" ROW(",\"agent_id\":\"s2\"") "]", RC_OK, 0 },
	{ "[" ROW(",\"metadata\":{\"user_id\":\"u2\"}") "]", RC_OK, 0 },
	{ "[{\"id\":\"m1\"}]", RC_OK, 0 },
	{ "[{\"memory\":\"茶\"}]", RC_OK, 0 },
	{ "[{\"id\":7,\"memory\":\"茶\"},null,3,\"x\",[]]", RC_OK, 0 },
	{ "{}", RC_INVALID, 0 },
	{ "null", RC_INVALID, 0 },
	{ "{\"results\":{}}", RC_INVALID, 0 },
	{ "", RC_INVALID, 0 },
	{ "<html>", RC_INVALID, 0 },
};

TEST(responses_are_read)
{
	struct arena *a = arena_new(65536);
	struct mem0_scope s = make_scope();
	struct mem0_items items;
	size_t i;

	for (i = 0; i < NELEM(responses); i++) {
		arena_reset(a);
		ck_assert_msg(mem0_read(str_of(responses[i].body), &s, a,
				  &items) == responses[i].rc,
		    "%s", responses[i].body);
		ck_assert_msg(items.n == responses[i].n, "%zu of %s", items.n,
		    responses[i].body);
		if (items.n == 1)
			ck_assert(str_eq(items.item[0].memory.text, STR("茶")));
	}
	arena_free(a);
}

static const char two[] =
    "[{\"id\":\"m1\",\"memory\":\"x\",\"score\":0.5,"
    "\"created_at\":\"2026-01-01T00:00:00+00:00\",\"metadata\":{"
    "\"job_id\":\"j1\",\"memory_type\":\"skill\","
    "\"made_at\":\"1970-01-01T00:00:01Z\"}},"
    "{\"id\":\"m2\",\"memory\":\"x\",\"score\":\"high\","
    "\"created_at\":\"1970-01-01T00:00:02+00:00\"}]";

TEST(an_item_has_all_members)
{
	struct arena *a = arena_new(65536);
	struct mem0_scope s = make_scope();
	struct mem0_items items;

	ck_assert_int_eq(mem0_read(str_of(two), &s, a, &items), RC_OK);
	ck_assert_uint_eq(items.n, 2);
	ck_assert(str_eq(items.item[0].memory.id, STR("m1")));
	ck_assert(str_eq(items.item[0].job_id, STR("j1")));
	ck_assert_int_eq(items.item[0].memory.type, WIRE_MEMORY_TYPE_SKILL);
	ck_assert_int_eq(items.item[0].memory.created.ms, 1000);
	ck_assert_double_eq(items.item[0].score, 0.5);
	ck_assert_ptr_null(items.item[1].job_id.p);
	ck_assert_int_eq(items.item[1].memory.type, WIRE_MEMORY_TYPE_FACT);
	ck_assert_int_eq(items.item[1].memory.created.ms, 2000);
	ck_assert_double_eq(items.item[1].score, 0);
	arena_free(a);
}

/* Before a delete by id, the response must state its scope. */
TEST(one_item_must_state_its_scope)
{
	struct arena *a = arena_new(65536);
	struct mem0_scope s = make_scope();
	struct mem0_item item;

	ck_assert_int_eq(mem0_read_one(STR("null"), &s, a, &item), RC_NOENT);
	ck_assert_int_eq(mem0_read_one(STR(ROW("")), &s, a, &item), RC_NOENT);
	ck_assert_int_eq(
	    mem0_read_one(
		STR(ROW(",\"user_id\":\"~dSAx\",\"agent_id\":\"s2\"")), &s, a,
		&item),
	    RC_NOENT);
	ck_assert_int_eq(
	    mem0_read_one(
		STR(ROW(",\"user_id\":\"~dSAx\",\"agent_id\":\"s1\"")), &s, a,
		&item),
	    RC_OK);
	ck_assert_int_eq(mem0_read_one(STR("{"), &s, a, &item), RC_INVALID);
	arena_free(a);
}

TEST(a_put_must_be_confirmed)
{
	ck_assert(
	    mem0_response_stored(STR("{\"results\":[{\"event\":\"ADD\"}]}")));
	ck_assert(mem0_response_stored(STR("[{\"status\":\"PENDING\"}]")));
	ck_assert(mem0_response_stored(STR("{\"status\":\"PENDING\"}")));
	ck_assert(!mem0_response_stored(STR("{\"results\":[]}")));
	ck_assert(!mem0_response_stored(STR("nothing")));
	ck_assert(mem0_response_rejected(STR("{\"detail\":\"x\",\"code\":"
					     "\"provider_bad_request\"}")));
	ck_assert(
	    !mem0_response_rejected(STR("{\"code\":\"provider_timeout\"}")));
	ck_assert(!mem0_response_rejected(STR("<html>")));
}
