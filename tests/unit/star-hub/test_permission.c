/* Which role may connect as which client. */
#include "auth/auth.h"
#include "core/mem.h"
#include "permission.h"
#include "testkit/testkit.h"

struct connect_row {
	enum wire_role role;
	struct identity as;
	bool may;
};

TEST(terminals_are_agents_of_their_own_id)
{
	static const struct connect_row rows[] = {
		{ WIRE_ROLE_OWNER, { .class = CLASS_AGENT }, true },
		{ WIRE_ROLE_OWNER, { .class = CLASS_ENVIRONMENT }, true },
		{ WIRE_ROLE_OWNER, { .class = CLASS_HUMAN }, true },
		{ WIRE_ROLE_OPERATOR, { .class = CLASS_AGENT }, true },
		{ WIRE_ROLE_OPERATOR, { .class = CLASS_ENVIRONMENT }, true },
		{ WIRE_ROLE_PROVISIONER, { .class = CLASS_AGENT }, false },
		{ WIRE_ROLE_PROVISIONER, { .class = CLASS_HUMAN }, false },
		{ WIRE_ROLE_TERMINAL,
		    { .class = CLASS_AGENT,
			.env = STR_INIT("demo_world"),
			.id = STR_INIT("lamp-1") },
		    true },
		{ WIRE_ROLE_TERMINAL,
		    { .class = CLASS_AGENT, .id = STR_INIT("lamp-10") },
		    false },
		{ WIRE_ROLE_TERMINAL,
		    { .class = CLASS_ENVIRONMENT,
			.env = STR_INIT("lamp-1"),
			.id = STR_INIT("lamp-1") },
		    false },
		{ WIRE_ROLE_TERMINAL,
		    { .class = CLASS_HUMAN, .id = STR_INIT("lamp-1") }, false },
	};
	struct auth_caller who = { .terminal_id = STR("lamp-1") };
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		who.role = rows[i].role;
		ck_assert_msg((permission_connect(&who, &rows[i].as) == NULL) ==
			rows[i].may,
		    "row %zu", i);
	}
}
