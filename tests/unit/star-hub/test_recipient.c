/* Whom a recipient means, and who may send to whom. */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "permission.h"
#include "recipient.h"
#include "testkit/testkit.h"

static const struct identity agent = {
	.class = CLASS_AGENT, .env = STR_INIT("env"), .id = STR_INIT("abc")
};
static const struct identity environment = { .class = CLASS_ENVIRONMENT,
	.env = STR_INIT("env"),
	.id = STR_INIT("env") };
static const struct identity human = { .class = CLASS_HUMAN,
	.id = STR_INIT("bob") };

static const char *const kinds[] = { "hub", "client", "room", "all", "nobody" };

/* "kind class env id audience". */
static void
recipient_describe(const struct recipient *r, char *dst, size_t size)
{
	if (r->kind == RECIPIENT_CLIENT)
		(void)snprintf(dst, size, "client %s %.*s %.*s",
		    client_class_names[r->to.class].p, STR_ARG(r->to.env),
		    STR_ARG(r->to.id));
	else if (r->kind == RECIPIENT_ROOM || r->kind == RECIPIENT_ALL)
		(void)snprintf(dst, size, "%s %.*s %s", kinds[r->kind],
		    STR_ARG(r->to.env), client_class_names[r->audience].p);
	else
		(void)snprintf(dst, size, "%s", kinds[r->kind]);
}

static const struct recipient_row {
	const struct identity *from;
	const char *id;
	enum client_class class;
	const char *env;
	size_t environments; /* of a human, which is in "one" */
	bool global;
	const char *expected; /* or the error's begin */
} recipient_rows[] = {
	{ &agent, "hub", CLASS_HUB, NULL, 0, true, "hub" },
	{ &agent, "server", CLASS_HUB, NULL, 0, true, "hub" },
	{ &agent, "hub", CLASS_AGENT, NULL, 0, true, "nobody" },
	{ &agent, "x", CLASS_HUB, NULL, 0, true, "nobody" },
	{ &agent, "env", CLASS_ENVIRONMENT, NULL, 0, true,
	    "client environment env env" },
	{ &agent, "def", CLASS_AGENT, NULL, 0, true, "client agent env def" },
	{ &agent, "def", CLASS_AGENT, "other", 0, true,
	    "client agent other def" },
	{ &agent, "bob", CLASS_HUMAN, NULL, 0, true, "client human  bob" },
	{ &environment, "abc", CLASS_AGENT, NULL, 0, true,
	    "client agent env abc" },
	{ &environment, "*", CLASS_AGENT, NULL, 0, true, "room env agent" },
	{ &environment, "*", CLASS_HUMAN, NULL, 0, true, "room env human" },
	{ &environment, "*", CLASS_HUB, NULL, 0, true, "room env hub" },
	{ &environment, "*", CLASS_N, NULL, 0, true, "room env hub" },
	{ &environment, "*", CLASS_ENVIRONMENT, NULL, 0, true,
	    "/recipient/type: " },
	{ &environment, "env_env_all", CLASS_HUB, NULL, 0, true,
	    "room env hub" },
	{ &environment, "env_x_y_all", CLASS_AGENT, NULL, 0, true,
	    "room x_y agent" },
	{ &environment, "env_all", CLASS_AGENT, NULL, 0, true,
	    "client agent env env_all" },
	{ &environment, "all", CLASS_HUB, NULL, 0, true, "all env hub" },
	{ &environment, "broadcast", CLASS_AGENT, NULL, 0, true,
	    "all env agent" },
	{ &environment, "all", CLASS_HUB, NULL, 0, false, "room env hub" },
	{ &environment, "foo_all", CLASS_HUB, NULL, 0, true, "nobody" },
	{ &human, "abc", CLASS_AGENT, NULL, 0, true, "client agent  abc" },
	{ &human, "abc", CLASS_AGENT, NULL, 1, true, "client agent one abc" },
	{ &human, "abc", CLASS_AGENT, NULL, 2, true, "/recipient/env: " },
	{ &human, "abc", CLASS_AGENT, "two", 2, true, "client agent two abc" },
	{ &human, "env", CLASS_ENVIRONMENT, NULL, 2, true,
	    "client environment env env" },
};

TEST(whom_a_recipient_means)
{
	char is[256];
	size_t i;

	for (i = 0; i < NELEM(recipient_rows); i++) {
		const struct recipient_row *row = &recipient_rows[i];
		const struct party p = { .id = str_of(row->id),
			.class = row->class,
			.env = str_of(row->env) };
		const struct recipient_context c = { .from = row->from,
			.environments = row->environments,
			.environment =
			    str_of(row->environments > 0 ? "one" : NULL),
			.global = row->global };
		struct recipient r;
		const char *error = recipient_of(&p, &c, &r);

		recipient_describe(&r, is, sizeof(is));
		if (error != NULL)
			ck_assert_int_eq(strncmp(error, row->expected,
					     strlen(row->expected)),
			    0);
		else
			ck_assert_str_eq(is, row->expected);
	}
}

#define TO(c, e)                               \
	{                                      \
		.class = c, .env = STR_INIT(e) \
	}
#define NO                          \
	{                           \
		false, false, false \
	}
#define MEMBER                 \
	{                      \
		.member = true \
	}
#define GLOBAL                 \
	{                      \
		.global = true \
	}
#define WROTE                     \
	{                         \
		.addressed = true \
	}

static const struct permission_row {
	const struct identity *from;
	enum recipient_kind kind;
	struct identity to;
	struct relation relation;
	bool may;
} permission_rows[] = {
	{ &agent, RECIPIENT_HUB, TO(CLASS_HUB, ""), NO, true },
	{ &agent, RECIPIENT_CLIENT, TO(CLASS_ENVIRONMENT, "env"), NO, true },
	{ &agent, RECIPIENT_CLIENT, TO(CLASS_ENVIRONMENT, "x"), GLOBAL, false },
	{ &agent, RECIPIENT_CLIENT, TO(CLASS_AGENT, "env"), NO, true },
	{ &agent, RECIPIENT_CLIENT, TO(CLASS_AGENT, "x"), GLOBAL, false },
	{ &agent, RECIPIENT_CLIENT, TO(CLASS_HUMAN, ""), MEMBER, true },
	{ &agent, RECIPIENT_CLIENT, TO(CLASS_HUMAN, ""), WROTE, false },
	{ &agent, RECIPIENT_ROOM, TO(CLASS_AGENT, "env"), GLOBAL, false },
	{ &agent, RECIPIENT_ALL, TO(CLASS_AGENT, "env"), GLOBAL, false },
	{ &environment, RECIPIENT_HUB, TO(CLASS_HUB, ""), NO, true },
	{ &environment, RECIPIENT_CLIENT, TO(CLASS_AGENT, "env"), NO, true },
	{ &environment, RECIPIENT_CLIENT, TO(CLASS_AGENT, "x"), GLOBAL, false },
	{ &environment, RECIPIENT_CLIENT, TO(CLASS_HUMAN, ""), NO, false },
	{ &environment, RECIPIENT_CLIENT, TO(CLASS_HUMAN, ""), MEMBER, true },
	{ &environment, RECIPIENT_CLIENT, TO(CLASS_HUMAN, ""), WROTE, true },
	{ &environment, RECIPIENT_CLIENT, TO(CLASS_ENVIRONMENT, "x"), NO,
	    false },
	{ &environment, RECIPIENT_CLIENT, TO(CLASS_ENVIRONMENT, "x"), GLOBAL,
	    true },
	{ &environment, RECIPIENT_ROOM, TO(CLASS_AGENT, "env"), NO, true },
	{ &environment, RECIPIENT_ROOM, TO(CLASS_AGENT, "x"), NO, false },
	{ &environment, RECIPIENT_ROOM, TO(CLASS_AGENT, "x"), GLOBAL, true },
	{ &environment, RECIPIENT_ALL, TO(CLASS_AGENT, "env"), NO, false },
	{ &environment, RECIPIENT_ALL, TO(CLASS_AGENT, "env"), GLOBAL, true },
	{ &human, RECIPIENT_HUB, TO(CLASS_HUB, ""), NO, true },
	{ &human, RECIPIENT_CLIENT, TO(CLASS_ENVIRONMENT, "x"), NO, true },
	{ &human, RECIPIENT_CLIENT, TO(CLASS_AGENT, "x"), NO, false },
	{ &human, RECIPIENT_CLIENT, TO(CLASS_AGENT, "x"), MEMBER, true },
	{ &human, RECIPIENT_CLIENT, TO(CLASS_HUMAN, ""), MEMBER, false },
	{ &human, RECIPIENT_ROOM, TO(CLASS_AGENT, "x"), MEMBER, false },
};

TEST(who_may_send_to_whom)
{
	size_t i;

	for (i = 0; i < NELEM(permission_rows); i++) {
		const struct permission_row *row = &permission_rows[i];
		const struct recipient to = { .kind = row->kind,
			.to = row->to };

		ck_assert_msg((permission_check(row->from, &to,
				   &row->relation) == NULL) == row->may,
		    "row %zu", i);
	}
}
