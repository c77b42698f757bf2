/* Jobs and stored memories, read and written. */
#include "core/mem.h"
#include "store/memory_record.h"
#include "testkit/testkit.h"
#include "wire/tree.h"

#define JOB(more)                                                 \
	"{\"job_id\":\"j1\",\"user_id\":\"u\",\"soul_id\":\"s\"," \
	"\"text\":\"喜欢茶\",\"type\":\"episode\"" more "}"
#define KIND ",\"kind\":\"memory_store\""
#define MADE ",\"created_at\":\"2026-02-22T10:20:30.5+08:00\""

TEST(a_job_becomes_a_memory)
{
	struct arena *a = arena_new(65536);
	struct buf out = BUF_INIT(4096);
	struct wire_memory_job job;
	struct rank_memory m;
	struct wire_err err;
	struct wall made;

	ck_assert_int_eq(
	    memory_job_read(STR(JOB(KIND MADE ",\"session_id\":\"x\","
					      "\"terminal_id\":\"t\","
					      "\"trigger_source\":\"user\"")),
		a, &job, &made, &err),
	    RC_OK);
	ck_assert_int_eq(made.ms, INT64_C(1771726830500));
	ck_assert_int_eq(memory_record_write(&job, &out), RC_OK);
	ck_assert_msg(str_eq(buf_str(&out),
			  STR("{\"text\":\"喜欢茶\",\"type\":\"episode\","
			      "\"created_at\":\"2026-02-22T10:20:30.5+08:00\","
			      "\"session_id\":\"x\",\"terminal_id\":\"t\","
			      "\"trigger_source\":\"user\"}")),
	    "%s", out.p);
	ck_assert_int_eq(
	    memory_record_read(STR("j1"), buf_str(&out), a, &m), RC_OK);
	ck_assert(str_eq(m.id, STR("j1")));
	ck_assert(str_eq(m.text, STR("喜欢茶")));
	ck_assert_int_eq(m.type, WIRE_MEMORY_TYPE_EPISODE);
	ck_assert_int_eq(m.created.ms, made.ms);
	buf_free(&out);
	buf_init(&out, 20);
	ck_assert_int_eq(memory_record_write(&job, &out), RC_TOOBIG);
	job.text.n = 0;
	ck_assert_int_eq(memory_record_write(&job, &out), RC_INVALID);
	buf_free(&out);
	arena_free(a);
}

static const struct {
	const char *json, *path;
} bad_jobs[] = {
	{ "", "" },
	{ "[]", "" },
	{ JOB(KIND), "/created_at" },
	{ JOB(MADE), "/kind" },
	{ JOB(MADE ",\"kind\":\"other\""), "/kind" },
	{ JOB(KIND ",\"created_at\":\"yesterday\""), "/created_at" },
	{ JOB(KIND ",\"created_at\":\"1960-01-01T00:00:00Z\""), "/created_at" },
};

TEST(malformed_jobs_are_rejected)
{
	struct arena *a = arena_new(65536);
	struct wire_memory_job job;
	struct wire_err err;
	struct wall made;
	size_t i;

	for (i = 0; i < NELEM(bad_jobs); i++) {
		ck_assert_int_eq(memory_job_read(str_of(bad_jobs[i].json), a,
				     &job, &made, &err),
		    RC_INVALID);
		ck_assert_str_eq(err.path, bad_jobs[i].path);
		ck_assert_int_ne(err.why[0], '\0');
	}
	arena_free(a);
}

#define MEMORY(text, made)                                                 \
	("{\"text\":\"" text "\",\"type\":\"fact\",\"created_at\":\"" made \
	 "\"}")

TEST(malformed_records_are_rejected)
{
	static const char *const bad[] = { "", "x", "{}",
		MEMORY("", "2026-02-22T10:20:30Z"), MEMORY("a", "x") };
	struct arena *a = arena_new(65536);
	struct rank_memory m;
	size_t i;

	for (i = 0; i < NELEM(bad); i++)
		ck_assert_int_eq(
		    memory_record_read(STR("m"), str_of(bad[i]), a, &m),
		    RC_INVALID);
	/* Later versions may add members. */
	ck_assert_int_eq(
	    memory_record_read(STR("m"),
		STR("{\"text\":\"a\",\"type\":\"skill\",\"vector\":[1,2],"
		    "\"created_at\":\"2026-02-22T10:20:30Z\"}"),
		a, &m),
	    RC_OK);
	arena_free(a);
}

/* The longest job, escaped, fits into the store. */
TEST(the_largest_memory_can_be_stored)
{
	static char text[16384];
	struct buf out = BUF_INIT(128UL * 1024);
	struct wire_memory_job job = { .job_id = STR("j"),
		.kind = STR(MEMORY_JOB_KIND),
		.user_id = STR("u"),
		.soul_id = STR("s"),
		.text = { text, sizeof(text) },
		.created_at = STR("2026-02-22T10:20:30Z") };

	memset(text, 1, sizeof(text));
	ck_assert_int_eq(memory_record_write(&job, &out), RC_OK);
	buf_free(&out);
}

/* An external store may contain anything: invalid values are left out. */
TEST(invalid_origins_are_left_out)
{
	static const struct {
		const char *meta, *origin;
	} rows[] = {
		{ "{}", "//" },
		{ "null", "//" },
		{ "{\"session_id\":\"x 1\",\"terminal_id\":\"t1\","
		  "\"trigger_source\":\"user\",\"tags\":[\"a\",\"茶\"]}",
		    "x 1/t1/user/a/茶" },
		{ "{\"session_id\":\"\",\"terminal_id\":\"t/1\","
		  "\"trigger_source\":\"Not this\",\"tags\":\"a\"}",
		    "//" },
		{ "{\"session_id\":1,\"terminal_id\":[],\"trigger_source\":{},"
		  "\"tags\":[1,\"\",null,\"b\",[\"c\"]]}",
		    "///b" },
		{ "{\"session_id\":\"a\\nb\",\"tags\":[\"1\",\"1\",\"1\","
		  "\"1\",\"1\",\"1\",\"1\",\"1\",\"1\",\"1\",\"1\",\"1\","
		  "\"1\",\"1\",\"1\",\"1\",\"17\"]}",
		    "///1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1" },
	};
	struct arena *a = arena_new(65536);
	const struct rank_detail *d;
	struct wire_tree *v;
	size_t i, k;

	for (i = 0; i < NELEM(rows); i++) {
		struct buf text = BUF_INIT(4096);

		ck_assert_int_eq(
		    wire_tree_parse(str_of(rows[i].meta), &v), RC_OK);
		ck_assert_int_eq(memory_record_detail(
				     v, wire_tree_get(v, STR("tags")), a, &d),
		    RC_OK);
		wire_tree_free(v);
		buf_printf(&text, "%.*s/%.*s/%.*s", STR_ARG(d->session_id),
		    STR_ARG(d->terminal_id), STR_ARG(d->trigger_source));
		for (k = 0; k < d->n_tags; k++)
			buf_printf(&text, "/%.*s", STR_ARG(d->tags[k]));
		ck_assert_str_eq(text.p, rows[i].origin);
		buf_free(&text);
	}
	arena_free(a);
}
