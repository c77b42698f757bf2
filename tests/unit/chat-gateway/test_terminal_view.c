/*
 * From a terminal's record to its message.
 */
#include <string.h>

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
	.rejected[TERMINAL_REJECTED_SKILLS] =
	    STR_INIT("{\"kind\":\"skills\",\"outcome\":\"ignored\","
		     "\"path\":\"\",\"reason\":\"older\","
		     "\"at\":\"2026-02-22T10:20:30Z\"}"),
};

struct view_test {
	struct arena *scratch, *a;
	struct buf json;
};

static void
view_test_open(struct view_test *x, size_t limit)
{
	x->scratch = arena_new(1024 * 1024);
	x->a = arena_new(limit);
	buf_init(&x->json, 65536);
}

static void
view_test_close(struct view_test *x)
{
	arena_free(x->scratch);
	arena_free(x->a);
	buf_free(&x->json);
}

/* The message as JSON, after its sources have been freed. */
static const char *
view_json(struct view_test *x, const struct terminal *t)
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
#define HEARTBEAT_AT(s)                                                  \
	"{\"kind\":\"heartbeat\",\"outcome\":\"refused\",\"path\":\"\"," \
	"\"reason\":\"is long\",\"at\":\"2026-02-22T10:20:" s "Z\"}"

TEST(the_whole_record_is_shown)
{
	struct view_test x;

	view_test_open(&x, 1024 * 1024);
	ck_assert_str_eq(view_json(&x, &full),
	    "{\"terminal_id\":\"t1\",\"online\":true,"
	    "\"last_seen\":\"2026-02-22T10:20:30Z\",\"broker\":\"main\","
	    "\"skill_version\":3,\"skills\":[\"control_light\",\"nod\"],"
	    "\"catalog_version\":12,\"intents\":[\"i1\"],"
	    "\"soul_hint\":\"friendly\",\"user_id\":\"ann\","
	    "\"soul_id\":\"soul_1\",\"refused\":[" OLDER
	    "],\"last_refused\":" OLDER "}");
	view_test_close(&x);
}

/* One of each kind; the newest is the last. */
TEST(the_last_rejection_of_each_kind_is_shown)
{
	struct terminal t = full;
	struct view_test x;

	t.rejected[TERMINAL_REJECTED_HEARTBEAT] = STR(HEARTBEAT_AT("29"));
	view_test_open(&x, 1024 * 1024);
	ck_assert_ptr_nonnull(strstr(view_json(&x, &t),
	    "\"refused\":[" HEARTBEAT_AT(
		"29") "," OLDER "],\"last_refused\":" OLDER "}"));
	t.rejected[TERMINAL_REJECTED_HEARTBEAT] = STR(HEARTBEAT_AT("31"));
	ck_assert_ptr_nonnull(strstr(view_json(&x, &t),
	    "\"refused\":[" HEARTBEAT_AT(
		"31") "," OLDER "],\"last_refused\":" HEARTBEAT_AT("31") "}"));
	t.rejected[TERMINAL_REJECTED_SKILLS] = (struct str){ NULL, 0 };
	ck_assert_ptr_nonnull(strstr(view_json(&x, &t),
	    "\"refused\":[" HEARTBEAT_AT(
		"31") "],\"last_refused\":" HEARTBEAT_AT("31") "}"));
	view_test_close(&x);
}

#define NOTHING                                                         \
	"{\"terminal_id\":\"t1\",\"online\":false,\"skill_version\":0," \
	"\"skills\":[],\"catalog_version\":0,\"intents\":[]}"

TEST(unknown_members_are_left_out)
{
	const struct terminal none = { 0 };
	struct view_test x;

	view_test_open(&x, 1024 * 1024);
	ck_assert_str_eq(view_json(&x, &none), NOTHING);
	view_test_close(&x);
}

TEST(an_offline_terminals_snapshots_are_left_out)
{
	struct terminal t = full;
	struct view_test x;

	t.present = false;
	view_test_open(&x, 1024 * 1024);
	ck_assert_ptr_nonnull(strstr(view_json(&x, &t),
	    "\"skill_version\":3,\"skills\":[],"
	    "\"catalog_version\":12,\"intents\":[],"));
	view_test_close(&x);
}

TEST(unreadable_snapshots_are_left_out)
{
	struct terminal t = full;
	struct view_test x;

	t.skills = STR("[{\"name\":7}]");
	t.catalog = STR("{");
	t.rejected[TERMINAL_REJECTED_SKILLS] = STR("{}");
	view_test_open(&x, 1024 * 1024);
	ck_assert_ptr_nonnull(strstr(view_json(&x, &t),
	    "\"skills\":[],\"catalog_version\":12,\"intents\":[]"));
	ck_assert_ptr_null(strstr(x.json.p, "refused"));
	view_test_close(&x);
}

/* In an arena of any size, the result is complete or RC_TOOBIG. */
TEST(a_full_arena_is_an_error)
{
	struct wire_terminal out;
	bool fitted = false;
	struct view_test x;
	size_t limit;

	for (limit = 1; !fitted; limit++) {
		enum rc rc;

		view_test_open(&x, limit);
		rc = terminal_view_put(&full, STR("t1"), x.scratch, x.a, &out);
		ck_assert(rc == RC_OK || rc == RC_TOOBIG);
		fitted = rc == RC_OK;
		view_test_close(&x);
		ck_assert_uint_lt(limit, 4096);
	}
	ck_assert_uint_gt(limit, 100);
}
