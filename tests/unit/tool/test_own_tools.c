/*
 * What a user has decided of a provider's own tools.
 */
#include <stdio.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "tool/own_tools.h"

static const struct own_tool_row row = { STR_INIT("look"), STR_INIT("Looks."),
	STR_INIT("{\"type\":\"object\"}") };

static struct own_tools *
tools_new(bool needs_approval)
{
	return own_tools_new(&(struct own_tools){ .provider = STR("eye"),
				 .needs_approval = needs_approval,
				 .timeout_s = 1 },
	    &row, 1);
}

struct tools_call {
	const char *seal; /* of the approval; NULL: none */
	bool old;         /* it is of another definition */
};

static enum own_tool_verdict
tools_admit(const struct own_tools *t, const char *policy, const char *pin,
    const struct tools_call *c)
{
	const struct own_tool_grant g = { str_of(policy), str_of(pin) };
	const struct wire_tool_call_request q = { .call_id = STR("c"),
		.name = row.name,
		.definition = c->old ? STR("0") : str_of(t->list->definition),
		.arguments = STR("{\"a\": 1}"),
		.has_approval = c->seal != NULL,
		.approval.seal = str_of(c->seal != NULL ? c->seal : "") };

	return own_tool_admit(t, t->list, &g, &q);
}

/* By what the provider needs, and what its user has decided. */
TEST(a_grant_decides_before_the_providers_policy)
{
	static const struct {
		const char *policy;
		bool same; /* the grant is for this definition */
		enum own_tool_verdict is[2];
	} rows[] = {
		{ "", true, { OWN_TOOL_ALLOWED, OWN_TOOL_APPROVAL_REQUIRED } },
		{ "auto", true, { OWN_TOOL_ALLOWED, OWN_TOOL_ALLOWED } },
		{ "auto", false,
		    { OWN_TOOL_ALLOWED, OWN_TOOL_APPROVAL_REQUIRED } },
		{ "ask", true,
		    { OWN_TOOL_APPROVAL_REQUIRED,
			OWN_TOOL_APPROVAL_REQUIRED } },
		{ "ask", false,
		    { OWN_TOOL_APPROVAL_REQUIRED,
			OWN_TOOL_APPROVAL_REQUIRED } },
		{ "never", true, { OWN_TOOL_FORBIDDEN, OWN_TOOL_FORBIDDEN } },
		{ "never", false, { OWN_TOOL_FORBIDDEN, OWN_TOOL_FORBIDDEN } },
	};

	for (int needs = 0; needs < 2; needs++) {
		struct own_tools *t = tools_new(needs);

		for (size_t i = 0; i < NELEM(rows); i++) {
			const char *pin =
			    rows[i].same ? t->list->definition : "0";

			ck_assert_int_eq(tools_admit(t, rows[i].policy, pin,
					     &(struct tools_call){ 0 }),
			    rows[i].is[needs]);
		}
		own_tools_free(t);
	}
}

TEST(exactly_the_approved_call_is_allowed)
{
	struct own_tools *t = tools_new(true);
	struct tool_sealed_call sealed = { STR("eye"), STR("eye"), STR("look"),
		str_of(t->list->definition), STR("{\"a\":1}") };
	char seal[TOOL_DIGEST_MAX];

	ck_assert_int_eq(tool_seal(&sealed, seal), RC_OK);
	ck_assert_int_eq(
	    tools_admit(t, "", "", &(struct tools_call){ .seal = seal }),
	    OWN_TOOL_ALLOWED);
	ck_assert_int_eq(
	    tools_admit(t, "never", "", &(struct tools_call){ .seal = seal }),
	    OWN_TOOL_FORBIDDEN);
	ck_assert_int_eq(tools_admit(t, "", "",
			     &(struct tools_call){ .seal = seal, .old = true }),
	    OWN_TOOL_DEFINITION_CHANGED);
	sealed.arguments = STR("{\"a\":2}");
	ck_assert_int_eq(tool_seal(&sealed, seal), RC_OK);
	ck_assert_int_eq(
	    tools_admit(t, "", "", &(struct tools_call){ .seal = seal }),
	    OWN_TOOL_APPROVAL_REQUIRED);
	own_tools_free(t);
}
