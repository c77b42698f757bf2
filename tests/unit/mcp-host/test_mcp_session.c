/* The states of a session, without a server. */
#include "mcp_session.h"

#include <stdlib.h>
#include <string.h>

#include "catalogue.h"
#include "core/buf.h"
#include "core/mem.h"
#include "rpc.h"
#include "testkit/testkit.h"

static struct mcp_session *s;
static struct mcp_step step;

static void
begin(enum mcp_era era, bool only)
{
	const struct mcp_session_opts o = {
		.era = era, .only = only, .client = "1"
	};

	mcp_session_free(s);
	s = mcp_session_new(&o);
	mcp_session_on_open(s, &step);
}

/* The step sends this request; its id. */
static int64_t
sent(const char *method)
{
	for (size_t i = 0; i < step.n; i++)
		if (step.effects[i].kind == MCP_SEND &&
		    strcmp(step.effects[i].method, method) == 0)
			return step.effects[i].id;
	ck_abort_msg("%s is not sent", method);
	return 0;
}

static bool
has(enum mcp_effect_kind kind)
{
	for (size_t i = 0; i < step.n; i++)
		if (step.effects[i].kind == kind)
			return true;
	return false;
}

static bool
result(int64_t id, const char *json)
{
	const struct rpc_message m = {
		.kind = RPC_RESULT, .id = id, .result = str_of(json)
	};

	return mcp_session_on_response(s, &m, &step);
}

static bool
error(int64_t id, int64_t code)
{
	const struct rpc_message m = {
		.kind = RPC_ERROR, .id = id, .code = code, .error = STR("no")
	};

	return mcp_session_on_response(s, &m, &step);
}

#define INIT(v)                                               \
	"{\"protocolVersion\":\"" v "\",\"capabilities\":{}," \
	"\"serverInfo\":{\"name\":\"n\",\"version\":\"2\"}}"
#define TOOLS(more) "{\"tools\":[{\"name\":\"t\",\"inputSchema\":{}}]" more "}"
#define MODERN                                                    \
	"{\"supportedVersions\":[\"2025-11-25\",\"2026-07-28\"]," \
	"\"capabilities\":{\"tools\":{\"listChanged\":true}}}"

/* From the start to the first list. */
static void
get_ready(void)
{
	begin(MCP_ERA_LEGACY, false);
	ck_assert(result(sent("initialize"), INIT("2025-11-25")));
	ck_assert(result(sent("tools/list"), TOOLS("")));
	ck_assert_int_eq(mcp_session_state(s), MCP_READY);
}

TEST(an_unknown_method_means_initialize)
{
	begin(MCP_ERA_UNKNOWN, false);
	ck_assert_int_eq(step.timer_ms, MCP_PROBE_MS);
	ck_assert(error(sent("server/discover"), RPC_UNKNOWN_METHOD));
	ck_assert_int_eq(mcp_session_state(s), MCP_INITIALIZING);
	ck_assert(result(sent("initialize"), INIT("2025-06-18")));
	ck_assert(has(MCP_VERSION));
	ck_assert_int_eq(sent("notifications/initialized"), 0);
	ck_assert_str_eq(mcp_session_version(s), "2025-06-18");
	ck_assert_str_eq(mcp_session_server(s), "n 2");
	ck_assert(result(sent("tools/list"), TOOLS("")));
	ck_assert(has(MCP_TOOLS));
	ck_assert_int_eq(mcp_session_era(s), MCP_ERA_LEGACY);
	ck_assert_uint_eq(catalogue_n(mcp_session_tools(s)), 1);
}

TEST(silence_means_initialize_and_a_later_reply_still_counts)
{
	int64_t probe;

	begin(MCP_ERA_UNKNOWN, false);
	probe = sent("server/discover");
	mcp_session_on_timer(s, &step);
	(void)sent("initialize");
	ck_assert(result(probe, MODERN));
	ck_assert_int_eq(mcp_session_era(s), MCP_ERA_MODERN);
	(void)sent("tools/list");
	/* And a late error changes nothing. */
	begin(MCP_ERA_UNKNOWN, false);
	probe = sent("server/discover");
	mcp_session_on_timer(s, &step);
	(void)sent("initialize");
	ck_assert(error(probe, RPC_UNKNOWN_METHOD));
	ck_assert_int_eq(step.timer_ms, MCP_TIMER_UNCHANGED);
	ck_assert_uint_eq(step.n, 0);
}

TEST(the_stateless_protocol_has_no_initialize_and_its_meta_everywhere)
{
	struct buf b = BUF_INIT(4096);

	begin(MCP_ERA_UNKNOWN, false);
	ck_assert(result(sent("server/discover"), MODERN));
	ck_assert_str_eq(mcp_session_version(s), "2026-07-28");
	ck_assert(result(sent("tools/list"), TOOLS("")));
	ck_assert(has(MCP_TOOLS));
	(void)sent("subscriptions/listen");
	mcp_session_write_call(s, 9, STR("t"), STR("{\"a\":1}"), &b);
	ck_assert_ptr_nonnull(
	    strstr(b.p, "io.modelcontextprotocol/protocolVersion"));
	ck_assert_ptr_nonnull(strstr(b.p, "\"progressToken\":9"));
	buf_free(&b);
}

TEST(after_any_error_of_a_probe_initialize_is_sent_unless_it_must_be_modern)
{
	begin(MCP_ERA_UNKNOWN, false);
	ck_assert(error(sent("server/discover"), RPC_UNSUPPORTED_VERSION));
	(void)sent("initialize");
	begin(MCP_ERA_UNKNOWN, false);
	ck_assert(mcp_session_on_failed(
	    s, sent("server/discover"), STR("HTTP status 404"), &step));
	(void)sent("initialize");
	begin(MCP_ERA_MODERN, true);
	ck_assert(error(sent("server/discover"), RPC_UNKNOWN_METHOD));
	ck_assert(has(MCP_FAIL));
	ck_assert_int_eq(mcp_session_state(s), MCP_FAILED);
}

TEST(a_version_that_is_not_known_ends_it)
{
	begin(MCP_ERA_LEGACY, false);
	ck_assert(result(sent("initialize"), INIT("2099-01-01")));
	ck_assert(has(MCP_FAIL));
	begin(MCP_ERA_LEGACY, false);
	ck_assert(error(sent("initialize"), RPC_INVALID_PARAMS));
	ck_assert(has(MCP_FAIL));
	begin(MCP_ERA_LEGACY, false);
	mcp_session_on_timer(s, &step);
	ck_assert(has(MCP_FAIL));
}

TEST(only_one_version_has_batches)
{
	static const char *const versions[] = { INIT("2024-11-05"),
		INIT("2025-03-26"), INIT("2025-06-18"), INIT("2025-11-25") };

	for (size_t i = 0; i < NELEM(versions); i++) {
		begin(MCP_ERA_LEGACY, false);
		ck_assert(result(sent("initialize"), versions[i]));
		ck_assert_int_eq(mcp_session_batches(s), i == 1);
	}
}

TEST(pages_are_read_to_the_end_and_a_repeated_cursor_is_one)
{
	begin(MCP_ERA_LEGACY, false);
	ck_assert(result(sent("initialize"), INIT("2025-11-25")));
	/* An empty cursor is one, too. */
	ck_assert(result(sent("tools/list"),
	    "{\"tools\":[{\"name\":\"a\",\"inputSchema\":{}}],"
	    "\"nextCursor\":\"\"}"));
	ck_assert_ptr_nonnull(
	    strstr(step.effects[0].json.p, "\"cursor\":\"\""));
	ck_assert(result(sent("tools/list"),
	    "{\"tools\":[{\"name\":\"b\",\"inputSchema\":{}}],"
	    "\"nextCursor\":\"\"}"));
	ck_assert(has(MCP_TOOLS));
	ck_assert_uint_eq(catalogue_n(mcp_session_tools(s)), 2);
}

TEST(a_server_without_tools_has_none)
{
	begin(MCP_ERA_LEGACY, false);
	ck_assert(result(sent("initialize"), INIT("2025-11-25")));
	ck_assert(error(sent("tools/list"), RPC_UNKNOWN_METHOD));
	ck_assert(has(MCP_TOOLS));
	ck_assert_uint_eq(catalogue_n(mcp_session_tools(s)), 0);
}

TEST(a_list_that_changes_all_the_time_is_read_each_second)
{
	get_ready();
	mcp_session_on_changed(s, &step);
	ck_assert_int_eq(step.timer_ms, MCP_RELIST_MS);
	/* It does not begin anew with each notification. */
	mcp_session_on_changed(s, &step);
	ck_assert_int_eq(step.timer_ms, MCP_TIMER_UNCHANGED);
	mcp_session_on_timer(s, &step);
	(void)sent("tools/list");
	ck_assert_int_eq(mcp_session_state(s), MCP_READY);
}

TEST(a_change_while_the_list_is_read_causes_another)
{
	int64_t list;

	get_ready();
	mcp_session_on_changed(s, &step);
	mcp_session_on_timer(s, &step);
	list = sent("tools/list");
	mcp_session_on_changed(s, &step);
	ck_assert(result(list, TOOLS("")));
	ck_assert_int_eq(step.timer_ms, MCP_RELIST_MS);
}

TEST(a_later_list_that_fails_leaves_the_former)
{
	get_ready();
	mcp_session_on_changed(s, &step);
	mcp_session_on_timer(s, &step);
	ck_assert(error(sent("tools/list"), RPC_INTERNAL));
	ck_assert_uint_eq(step.n, 0);
	ck_assert_uint_eq(catalogue_n(mcp_session_tools(s)), 1);
	mcp_session_on_changed(s, &step);
	mcp_session_on_timer(s, &step);
	ck_assert(result(sent("tools/list"), "{\"tools\":3}"));
	ck_assert_uint_eq(catalogue_n(mcp_session_tools(s)), 1);
}

TEST(ids_are_never_used_twice_and_others_are_not_its_own)
{
	int64_t id;

	get_ready();
	id = mcp_session_next_id(s);
	ck_assert_int_gt(mcp_session_next_id(s), id);
	ck_assert(!result(id, "{}"));
	ck_assert(!result(0, "{}"));
	ck_assert(!error(1, 0));
}

TEST(a_list_of_many_tools_or_bad_ones_is_read_as_far_as_it_is_good)
{
	begin(MCP_ERA_LEGACY, false);
	ck_assert(result(sent("initialize"), INIT("2025-11-25")));
	ck_assert(result(sent("tools/list"),
	    "{\"tools\":[{\"name\":\"b\",\"inputSchema\":{}},7,{},"
	    "{\"name\":\"b\",\"inputSchema\":{}},"
	    "{\"name\":\"x\\u0007\",\"inputSchema\":{}},"
	    "{\"name\":\"c\",\"inputSchema\":3},"
	    "{\"name\":\"a\",\"title\":\"A\",\"inputSchema\":{\"type\":"
	    "\"object\"},\"annotations\":{\"readOnlyHint\":true}}]}"));
	ck_assert_uint_eq(catalogue_n(mcp_session_tools(s)), 2);
	ck_assert_uint_eq(mcp_session_left_out(s), 5);
	ck_assert(
	    str_eq(catalogue_at(mcp_session_tools(s), 0)->name, STR("a")));
	ck_assert(catalogue_find(mcp_session_tools(s), STR("a"))->read_only);
	ck_assert_ptr_null(catalogue_find(mcp_session_tools(s), STR("c")));
}

TEST(a_catalogue_is_the_same_after_it_was_stored)
{
	struct catalogue *stored = catalogue_new();
	struct buf b = BUF_INIT(65536);
	size_t left_out = 0;

	get_ready();
	catalogue_write(mcp_session_tools(s), &b);
	ck_assert_int_eq(catalogue_add(stored, buf_str(&b), &left_out), RC_OK);
	catalogue_seal(stored);
	ck_assert_uint_eq(left_out, 0);
	ck_assert_str_eq(
	    catalogue_digest(stored), catalogue_digest(mcp_session_tools(s)));
	catalogue_unref(stored);
	buf_free(&b);
}
