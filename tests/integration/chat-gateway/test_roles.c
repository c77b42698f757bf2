/*
 * Authorization: each route with each role and without a token, and users named
 * by other callers.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/gateway_turn_fixture.h"
#include "wire/iface.h"

static const struct {
	enum wire_role role;
	const char *token;
	const char *user; /* the user that this caller may name */
} all_tokens[] = {
	{ WIRE_ROLE_OWNER, TOKEN_ANN, "ann" },
	{ WIRE_ROLE_TERMINAL, TOKEN_LAMP, "ann" },
	{ WIRE_ROLE_PROVISIONER, TOKEN_PROVISIONER, "ann" },
	{ WIRE_ROLE_NOTIFIER, TOKEN_NOTIFIER, "ann" },
	{ WIRE_ROLE_OPERATOR, TOKEN_OPERATOR, "ann" },
};

static bool
is_of_gateway(const struct wire_route *r)
{
	return strcmp(r->owner, "chat-gateway") == 0 ||
	    (r->also != NULL && strcmp(r->also, "chat-gateway") == 0);
}

/* The route's path with its placeholders replaced. */
static void
fill_path(const struct wire_route *r, const char *user, char *dst, size_t size)
{
	struct str rest = str_of(r->path), part;
	size_t n = 0;

	(void)str_split(&rest, '/');
	do {
		part = str_split(&rest, '/');
		if (str_eq(part, STR("{user_id}")))
			part = str_of(user);
		/* A body names no other body. */
		else if (str_eq(part, STR("{terminal_id}")))
			part = STR("lamp");
		else if (part.p[0] == '{')
			part = STR("x");
		n +=
		    (size_t)snprintf(dst + n, size - n, "/%.*s", STR_ARG(part));
	} while (rest.p != NULL);
	/* A response without an end. */
	if (strcmp(r->name, "live") == 0)
		snprintf(dst + n, size - n, "?cursor=x");
}

static const char *
request_body(const struct wire_route *r)
{
	return r->request != NULL ? "{}" : NULL;
}

TEST(only_listed_roles_are_authorized)
{
	struct tk_response a = { 0 };
	const struct wire_route *r;
	char path[256];
	size_t i, k, n = 0;
	struct gateway_fixture b;

	gw_start_with_tokens(&b);
	for (i = 0; i < wire_routes_n; i++) {
		r = &wire_routes[i];
		if (!is_of_gateway(r))
			continue;
		n++;
		fill_path(r, "ann", path, sizeof(path));
		gw_rejects_as(&b, NULL, r->method, path, request_body(r),
		    "401 an access token is needed");
		gw_rejects_as(
		    &b, "t-unknown", r->method, path, request_body(r), "401 ");
		for (k = 0; k < NELEM(all_tokens); k++) {
			gw_request_as(&b, &a, all_tokens[k].token, r->method,
			    path, request_body(r));
			ck_assert_msg((a.status == 403) ==
				((r->roles & 1U << all_tokens[k].role) == 0),
			    "%s %s by %s: %d %s", r->method, path,
			    all_tokens[k].token, a.status, a.body.p);
		}
	}
	ck_assert_uint_eq(n, 97);
	tk_response_free(&a);
	gateway_fixture_stop(&b);
}

/* A caller, and a user that this caller may not name. */
static const struct {
	const char *token, *user;
	const char *encoded; /* in a path */
} other_users[] = {
	{ TOKEN_BOB, "ann", "ann" },
	{ TOKEN_BOB, "acme/bob", "acme%2Fbob" },
	{ TOKEN_ACME_ANN, "other/ann", "other%2Fann" },
	{ TOKEN_ACME_ANN, "eve", "eve" },
	{ TOKEN_ACME_OPERATOR, "other/ann", "other%2Fann" },
};

TEST(callers_cannot_name_another_user)
{
	const struct wire_route *r;
	char path[300];
	size_t i, k, n = 0;
	struct gateway_fixture b;

	gw_start_with_tokens(&b);
	for (i = 0; i < wire_routes_n; i++) {
		r = &wire_routes[i];
		if (!is_of_gateway(r) ||
		    (r->roles & 1U << WIRE_ROLE_OWNER) == 0)
			continue;
		n++;
		fill_path(r, "ann", path, sizeof(path));
		for (k = 0; k < NELEM(other_users); k++) {
			char with[400];

			snprintf(with, sizeof(with), "%s%cuser_id=%s", path,
			    strchr(path, '?') != NULL ? '&' : '?',
			    other_users[k].user);
			gw_rejects_as(&b, other_users[k].token, r->method, with,
			    request_body(r), "403 user_id: is ");
		}
	}
	ck_assert_uint_eq(n, 91);
	gateway_fixture_stop(&b);
}

TEST(bodies_and_paths_cannot_name_another_user)
{
	static const char *const routes[] = { "/v1/chat", "/v1/souls/select",
		"/v1/souls", "/v1/turns/x/cancel" };
	char path[256], body[256];
	struct gateway_fixture b;
	size_t i, k;

	gw_start_with_tokens(&b);
	for (k = 0; k < NELEM(other_users); k++) {
		snprintf(body, sizeof(body),
		    "{\"user_id\":\"%s\",\"terminal_id\":\"t1\"," GW_CHAT_INPUT
		    ",\"soul_id\":\"x\",\"name\":\"x\","
		    "\"mbti_type\":\"INFP\"}",
		    other_users[k].user);
		for (i = 0; i < NELEM(routes); i++)
			gw_rejects_as(&b, other_users[k].token, "POST",
			    routes[i], body, "403 /user_id: is ");
		snprintf(path, sizeof(path), "/v1/users/%s/profile",
		    other_users[k].encoded);
		gw_rejects_as(&b, other_users[k].token, "GET", path, NULL,
		    "403 user_id: is ");
		gw_rejects_as(&b, other_users[k].token, "PATCH", path, "{}",
		    "403 user_id: is ");
	}
	gateway_fixture_stop(&b);
}

/* An operator is not a user and must name one. */
TEST(an_operator_must_name_the_user)
{
	json_t *j;
	struct gateway_fixture b;

	gw_start_with_tokens(&b);
	gw_rejects_as(&b, TOKEN_OPERATOR, "GET", "/v1/souls", NULL,
	    "400 user_id: must be named: the access token is of no user");
	gw_rejects_as(&b, TOKEN_ACME_OPERATOR, "POST", "/v1/souls",
	    "{\"name\":\"x\",\"mbti_type\":\"INFP\"}",
	    "400 user_id: must be named");
	j = gw_json_as(
	    &b, TOKEN_ACME_OPERATOR, "GET", "/v1/souls?user_id=ann", NULL);
	ck_assert_str_eq(tk_text(j, "user_id"), "acme/ann");
	json_decref(j);
	j = gw_json_as(
	    &b, TOKEN_OPERATOR, "GET", "/v1/souls?user_id=acme/ann", NULL);
	ck_assert_str_eq(tk_text(j, "user_id"), "acme/ann");
	json_decref(j);
	j = gw_json_as(&b, TOKEN_ANN, "GET", "/v1/souls", NULL);
	ck_assert_str_eq(tk_text(j, "user_id"), "ann");
	json_decref(j);
	gateway_fixture_stop(&b);
}
