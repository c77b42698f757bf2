/* Users' own MCP servers, grants of tools, used tools. */
#include "state/keys.h"
#include "state/mcp.h"
#include "state/state_internal.h"
#include "state/user_data.h"
#include "testkit/state_fixture.h"

STATE_FIXTURE_ON_CLUSTER

#define USER STR("u 1")

static enum rc
put_server(struct state_fixture *b, const char *name, const char *json)
{
	const struct mcp_user_server server = { str_of(name), str_of(json) };

	return mcp_server_put(b->s, USER, &server);
}

static size_t
servers(struct state_fixture *b, struct str user, struct mcp_user_server **list)
{
	size_t n;

	OK(mcp_servers_read(b->s, user, b->a, list, &n));
	return n;
}

TEST(servers_are_added_replaced_and_deleted)
{
	struct state_fixture b;
	struct mcp_user_server *list;

	state_fixture_start(&b);
	ck_assert_uint_eq(servers(&b, USER, &list), 0);
	OK(put_server(&b, "two", "{}"));
	OK(put_server(&b, "one", "{\"a\":1}"));
	OK(put_server(&b, "two", "{\"b\":2}"));
	ck_assert_uint_eq(servers(&b, USER, &list), 2);
	ck_assert(str_eq(list[0].name, STR("one")));
	ck_assert(str_eq(list[0].json, STR("{\"a\":1}")));
	ck_assert(str_eq(list[1].json, STR("{\"b\":2}")));
	ck_assert_uint_eq(servers(&b, STR("u2"), &list), 0);
	OK(mcp_server_delete(b.s, USER, STR("one")));
	IS(RC_NOENT, mcp_server_delete(b.s, USER, STR("one")));
	ck_assert_uint_eq(servers(&b, USER, &list), 1);
	IS(RC_INVALID, put_server(&b, "", "{}"));
	IS(RC_INVALID, put_server(&b, "a b", "{}"));
	state_fixture_stop(&b);
}

TEST(a_user_has_so_many_servers_and_no_more)
{
	struct state_fixture b;
	char name[16];
	int i;

	state_fixture_start(&b);
	for (i = 0; i < MCP_USER_SERVERS_MAX; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		OK(put_server(&b, name, "{}"));
	}
	IS(RC_RETRY, put_server(&b, "more", "{}"));
	OK(put_server(&b, "s0", "{\"a\":1}"));
	state_fixture_stop(&b);
}

static enum rc
put_grant(struct state_fixture *b, const char *soul, const char *policy,
    const char *pin)
{
	const struct mcp_grant g = { str_of(soul), STR("fs"), STR("write a"),
		str_of(policy), str_of(pin) };

	return mcp_grant_put(b->s, USER, &g);
}

TEST(the_grant_of_a_soul_counts_more_than_that_of_all)
{
	const struct mcp_grant which = { .soul_id = STR("soul/1"),
		.server = STR("fs"),
		.tool = STR("write a") };
	const struct mcp_grant *g;
	struct state_fixture b;
	struct mcp_grant *list;
	size_t n;

	state_fixture_start(&b);
	OK(put_grant(&b, NULL, "ask", ""));
	OK(put_grant(&b, "soul/1", "never", "abc"));
	OK(put_grant(&b, "soul/1", "auto", "abd"));
	OK(mcp_grants_read(b.s, USER, b.a, &list, &n));
	ck_assert_uint_eq(n, 2);
	g = mcp_grant_find(list, n, STR("soul/1"), STR("fs"), STR("write a"));
	ck_assert_ptr_nonnull(g);
	ck_assert(str_eq(g->policy, STR("auto")));
	ck_assert(str_eq(g->pin, STR("abd")));
	g = mcp_grant_find(list, n, STR("x"), STR("fs"), STR("write a"));
	ck_assert_ptr_nonnull(g);
	ck_assert(str_eq(g->policy, STR("ask")));
	ck_assert_uint_eq(g->pin.n, 0);
	ck_assert_ptr_null(
	    mcp_grant_find(list, n, STR("x"), STR("fs"), STR("write")));
	OK(mcp_grant_delete(b.s, USER, &which));
	IS(RC_NOENT, mcp_grant_delete(b.s, USER, &which));
	OK(mcp_grants_read(b.s, USER, b.a, &list, &n));
	ck_assert_uint_eq(n, 1);
	IS(RC_INVALID, put_grant(&b, NULL, "a b", ""));
	IS(RC_INVALID, put_grant(&b, NULL, "", ""));
	state_fixture_stop(&b);
}

TEST(used_tools_are_those_of_the_session_the_newest_first)
{
	struct mcp_used u = { STR("fs"), STR("one") };
	struct state_fixture b;
	struct mcp_used *list;
	size_t n;

	state_fixture_start(&b);
	OK(mcp_used_add(b.s, USER, STR("s1"), &u));
	u.tool = STR("two");
	tk_until(state_fixture_is_up, b.s, 10);
	OK(mcp_used_add(b.s, USER, STR("s2"), &u));
	OK(mcp_used_add(b.s, USER, STR("s1"), &u));
	OK(mcp_used_read(b.s, USER, STR("s1"), b.a, &list, &n));
	ck_assert_uint_eq(n, 2);
	ck_assert(str_eq(list[0].tool, STR("two")));
	ck_assert(str_eq(list[1].tool, STR("one")));
	OK(mcp_used_read(b.s, USER, STR("s2"), b.a, &list, &n));
	ck_assert_uint_eq(n, 1);
	IS(RC_INVALID, mcp_used_add(b.s, USER, STR(""), &u));
	state_fixture_stop(&b);
}

TEST(the_oldest_uses_are_removed)
{
	struct mcp_used u = { .server = STR("fs") };
	struct state_fixture b;
	struct mcp_used *list;
	char tool[16];
	size_t i, n;

	state_fixture_start(&b);
	for (i = 0; i < MCP_USED_MAX + 8; i++) {
		snprintf(tool, sizeof(tool), "t%05zu", i);
		u.tool = str_of(tool);
		OK(mcp_used_add(b.s, USER, STR("s"), &u));
	}
	OK(mcp_used_read(b.s, USER, STR("s"), b.a, &list, &n));
	ck_assert_uint_eq(n, MCP_USED_MAX);
	ck_assert(str_eq(list[n - 1].tool, STR("t00008")));
	state_fixture_stop(&b);
}

TEST(all_of_it_is_deleted_with_the_user)
{
	struct mcp_used u = { STR("fs"), STR("one") }, *used;
	struct mcp_user_server *list;
	struct state_fixture b;
	struct mcp_grant *grants;
	size_t n;

	state_fixture_start(&b);
	OK(put_server(&b, "one", "{}"));
	OK(put_grant(&b, NULL, "auto", ""));
	OK(mcp_used_add(b.s, USER, STR("s1"), &u));
	OK(user_data_delete_rest(b.s, USER));
	ck_assert_uint_eq(servers(&b, USER, &list), 0);
	OK(mcp_grants_read(b.s, USER, b.a, &grants, &n));
	ck_assert_uint_eq(n, 0);
	OK(mcp_used_read(b.s, USER, STR("s1"), b.a, &used, &n));
	ck_assert_uint_eq(n, 0);
	state_fixture_stop(&b);
}

TEST(content_is_found_by_its_user_alone)
{
	struct mcp_content c = { STR("0af3"), STR("image/png"), STR("QUJD") };
	struct mcp_content got = { .id = STR("0af3") };
	struct state_fixture b;

	state_fixture_start(&b);
	OK(mcp_content_put(b.s, USER, &c));
	OK(mcp_content_read(b.s, USER, &got, b.a));
	ck_assert(str_eq(got.mime_type, STR("image/png")));
	ck_assert(str_eq(got.data, STR("QUJD")));
	IS(RC_NOENT, mcp_content_read(b.s, STR("u2"), &got, b.a));
	got.id = STR("0af4");
	IS(RC_NOENT, mcp_content_read(b.s, USER, &got, b.a));
	c.data = STR("");
	OK(mcp_content_put(b.s, USER, &c));
	got.id = c.id;
	OK(mcp_content_read(b.s, USER, &got, b.a));
	ck_assert_uint_eq(got.data.n, 0);
	state_fixture_stop(&b);
}
