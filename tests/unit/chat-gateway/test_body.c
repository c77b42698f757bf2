/*
 * From a terminal's record to what its owner sees.
 */
#include "core/mem.h"
#include "state/terminal.h"
#include "terminals/terminals_api.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

static const struct terminal full = {
	.known = true,
	.present = true,
	.seen = { 1771755630000 },
	.broker = STR_INIT("main"),
	.skill_version = 3,
	.skills = STR_INIT("[{\"name\":\"control_light\"},{\"name\":\"nod\"}]"),
	.catalog_version = 12,
	.catalog = STR_INIT("[{\"id\":\"i1\",\"name\":\"x\",\"match\":{},"
			    "\"slots\":[]}]"),
	.soul_hint = STR_INIT("friendly"),
	.user_id = STR_INIT("ann"),
	.soul_id = STR_INIT("soul_1"),
	.refused[TERMINAL_REJECTED_SKILLS] =
	    STR_INIT("{\"kind\":\"skills\",\"outcome\":\"ignored\","
		     "\"path\":\"\",\"reason\":\"older\","
		     "\"at\":\"2026-02-22T10:20:30Z\"}"),
};

struct bench {
	struct arena *scratch, *a;
	struct buf json;
};

static void
bench_open(struct bench *x, size_t limit)
{
	x->scratch = arena_new(1024 * 1024);
	x->a = arena_new(limit);
	buf_init(&x->json, 65536);
}

static void
bench_close(struct bench *x)
{
	arena_free(x->scratch);
	arena_free(x->a);
	buf_free(&x->json);
}

/* The message's JSON, after what it was made of has gone. */
static const char *
told(struct bench *x, const struct terminal *t)
{
	struct wire_terminal out;

	ck_assert_int_eq(
	    terminal_view_put(t, STR("t1"), x->scratch, x->a, &out), RC_OK);
	arena_reset(x->scratch);
	memset(arena_alloc(x->scratch, 4096), 'x', 4096);
	buf_reset(&x->json);
	ck_assert_int_eq(
	    wire_encode(&wire_terminal_desc, &out, &x->json, NULL), RC_OK);
	return x->json.p;
}

#define OLDER                                                         \
	"{\"kind\":\"skills\",\"outcome\":\"ignored\",\"path\":\"\"," \
	"\"reason\":\"older\",\"at\":\"2026-02-22T10:20:30Z\"}"
#define BEAT_AT(s)                                                       \
	"{\"kind\":\"heartbeat\",\"outcome\":\"refused\",\"path\":\"\"," \
	"\"reason\":\"is long\",\"at\":\"2026-02-22T10:20:" s "Z\"}"

TEST(all_that_is_known_is_told)
{
	struct bench x;

	bench_open(&x, 1024 * 1024);
	ck_assert_str_eq(told(&x, &full),
	    "{\"terminal_id\":\"t1\",\"online\":true,"
	    "\"last_seen\":\"2026-02-22T10:20:30Z\",\"broker\":\"main\","
	    "\"skill_version\":3,\"skills\":[\"control_light\",\"nod\"],"
	    "\"catalog_version\":12,\"intents\":[\"i1\"],"
	    "\"soul_hint\":\"friendly\",\"user_id\":\"ann\","
	    "\"soul_id\":\"soul_1\",\"refused\":[" OLDER
	    "],\"last_refused\":" OLDER "}");
	bench_close(&x);
}

/* One of each kind; the newest is the last. */
TEST(refusals_of_each_kind)
{
	struct terminal t = full;
	struct bench x;

	t.refused[TERMINAL_REJECTED_HEARTBEAT] = STR(BEAT_AT("29"));
	bench_open(&x, 1024 * 1024);
	ck_assert_ptr_nonnull(strstr(told(&x, &t),
	    "\"refused\":[" BEAT_AT("29") "," OLDER "],\"last_refused\":" OLDER
					  "}"));
	t.refused[TERMINAL_REJECTED_HEARTBEAT] = STR(BEAT_AT("31"));
	ck_assert_ptr_nonnull(strstr(told(&x, &t),
	    "\"refused\":[" BEAT_AT(
		"31") "," OLDER "],\"last_refused\":" BEAT_AT("31") "}"));
	t.refused[TERMINAL_REJECTED_SKILLS] = (struct str){ NULL, 0 };
	ck_assert_ptr_nonnull(strstr(told(&x, &t),
	    "\"refused\":[" BEAT_AT("31") "],\"last_refused\":" BEAT_AT(
		"31") "}"));
	bench_close(&x);
}

#define NOTHING                                                         \
	"{\"terminal_id\":\"t1\",\"online\":false,\"skill_version\":0," \
	"\"skills\":[],\"catalog_version\":0,\"intents\":[]}"

TEST(what_is_not_known_is_left_out)
{
	const struct terminal none = { 0 };
	struct bench x;

	bench_open(&x, 1024 * 1024);
	ck_assert_str_eq(told(&x, &none), NOTHING);
	bench_close(&x);
}

TEST(what_an_absent_body_can_do_does_not_count)
{
	struct terminal t = full;
	struct bench x;

	t.present = false;
	bench_open(&x, 1024 * 1024);
	ck_assert_ptr_nonnull(strstr(told(&x, &t),
	    "\"skill_version\":3,\"skills\":[],"
	    "\"catalog_version\":12,\"intents\":[],"));
	bench_close(&x);
}

TEST(what_cannot_be_read_is_left_out)
{
	struct terminal t = full;
	struct bench x;

	t.skills = STR("[{\"name\":7}]");
	t.catalog = STR("{");
	t.refused[TERMINAL_REJECTED_SKILLS] = STR("{}");
	bench_open(&x, 1024 * 1024);
	ck_assert_ptr_nonnull(strstr(told(&x, &t),
	    "\"skills\":[],\"catalog_version\":12,\"intents\":[]"));
	ck_assert_ptr_null(strstr(x.json.p, "refused"));
	bench_close(&x);
}

/* However small the room, it is full or it is right. */
TEST(a_full_arena_is_told)
{
	struct wire_terminal out;
	bool fitted = false;
	struct bench x;
	size_t limit;

	for (limit = 1; !fitted; limit++) {
		enum rc rc;

		bench_open(&x, limit);
		rc = terminal_view_put(&full, STR("t1"), x.scratch, x.a, &out);
		ck_assert(rc == RC_OK || rc == RC_TOOBIG);
		fitted = rc == RC_OK;
		bench_close(&x);
		ck_assert_uint_lt(limit, 4096);
	}
	ck_assert_uint_gt(limit, 100);
}
