/* Which tools are called without asking, and which calls are made. */
#include "catalogue.h"
#include "grant.h"
#include "testkit/testkit.h"

static const struct catalogue_tool reads = {
	.name = STR_INIT("read"), .read_only = true, .idempotent = true
};
static const struct catalogue_tool writes = { .name = STR_INIT("write") };
static const struct grant none;

static enum mcp_policy
policy(const struct mcp_server *s, const struct catalogue_tool *t)
{
	return grant_decide(s, t, STR("d"), &none).policy;
}

TEST(by_default_everything_is_asked_for)
{
	const struct mcp_server s = { .name = "s" };

	ck_assert_int_eq(policy(&s, &reads), MCP_POLICY_CONFIRM);
	ck_assert_int_eq(policy(&s, &writes), MCP_POLICY_CONFIRM);
	ck_assert(!grant_decide(&s, &reads, STR("d"), &none).read_only);
}

TEST(hints_count_on_trusted_servers_alone)
{
	const struct mcp_server s = { .name = "s", .trust_hints = true };

	ck_assert_int_eq(policy(&s, &reads), MCP_POLICY_AUTO);
	ck_assert_int_eq(policy(&s, &writes), MCP_POLICY_CONFIRM);
	ck_assert(grant_decide(&s, &reads, STR("d"), &none).read_only);
	ck_assert(grant_decide(&s, &reads, STR("d"), &none).idempotent);
	ck_assert(!grant_decide(&s, &writes, STR("d"), &none).read_only);
}

TEST(the_operators_configuration_decides)
{
	const char *list[] = { "write" };
	struct mcp_server s = { .name = "s", .policy = MCP_POLICY_AUTO };

	ck_assert_int_eq(policy(&s, &writes), MCP_POLICY_AUTO);
	s.policy = MCP_POLICY_CONFIRM;
	s.trust_hints = true;
	ck_assert_int_eq(policy(&s, &reads), MCP_POLICY_CONFIRM);
	s.auto_tools = list;
	s.n_auto_tools = 1;
	ck_assert_int_eq(policy(&s, &writes), MCP_POLICY_AUTO);
	ck_assert_int_eq(policy(&s, &reads), MCP_POLICY_CONFIRM);
	s.policy = MCP_POLICY_NEVER;
	ck_assert_int_eq(policy(&s, &writes), MCP_POLICY_NEVER);
}

TEST(a_grant_is_for_one_definition)
{
	const struct mcp_server s = { .name = "s" };
	const struct grant g = { MCP_POLICY_AUTO, STR("d1") };
	struct grant_decision d = grant_decide(&s, &writes, STR("d1"), &g);

	ck_assert_int_eq(d.policy, MCP_POLICY_AUTO);
	ck_assert(!d.changed);
	d = grant_decide(&s, &writes, STR("d2"), &g);
	ck_assert_int_eq(d.policy, MCP_POLICY_CONFIRM);
	ck_assert(d.changed);
}

TEST(a_user_may_deny_what_the_operator_allows_and_not_the_reverse)
{
	struct mcp_server s = { .name = "s", .policy = MCP_POLICY_AUTO };
	struct grant g = { MCP_POLICY_NEVER, STR("d1") };

	/* A tool does not escape by changing. */
	ck_assert_int_eq(
	    grant_decide(&s, &writes, STR("d2"), &g).policy, MCP_POLICY_NEVER);
	g.policy = MCP_POLICY_CONFIRM;
	ck_assert_int_eq(grant_decide(&s, &writes, STR("d2"), &g).policy,
	    MCP_POLICY_CONFIRM);
	s.policy = MCP_POLICY_NEVER;
	g.policy = MCP_POLICY_AUTO;
	ck_assert_int_eq(
	    grant_decide(&s, &writes, STR("d1"), &g).policy, MCP_POLICY_NEVER);
}

TEST(a_call_needs_the_approval_of_just_that_call)
{
	struct grant_decision d = { .policy = MCP_POLICY_CONFIRM };
	struct grant_call c = { STR("d"), STR("d"), STR("s"), { NULL, 0 } };

	ck_assert_int_eq(grant_check(&d, &c), GRANT_APPROVAL_REQUIRED);
	c.approved = STR("other");
	ck_assert_int_eq(grant_check(&d, &c), GRANT_APPROVAL_REQUIRED);
	c.approved = STR("s");
	ck_assert_int_eq(grant_check(&d, &c), GRANT_ALLOWED);
	c.requested = STR("old");
	ck_assert_int_eq(grant_check(&d, &c), GRANT_DEFINITION_CHANGED);
	d.policy = MCP_POLICY_AUTO;
	ck_assert_int_eq(grant_check(&d, &c), GRANT_DEFINITION_CHANGED);
	c.requested = STR("d");
	c.approved = STR("");
	ck_assert_int_eq(grant_check(&d, &c), GRANT_ALLOWED);
	d.policy = MCP_POLICY_NEVER;
	c.approved = STR("s");
	ck_assert_int_eq(grant_check(&d, &c), GRANT_FORBIDDEN);
}
