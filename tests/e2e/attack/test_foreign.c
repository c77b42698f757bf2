/*
 * What each role may not ask, and what belongs to somebody else: souls,
 * sessions, streams, turns, memories, profiles, bodies.  Nothing of it is told,
 * and nothing of it changes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "e2e/rig/knock.h"
#include "e2e/rig/lock.h"
#include "e2e/rig/neighbour.h"
#include "e2e/rig/peer.h"
#include "e2e/rig/talk.h"
#include "wire/iface.h"

STACK_SHARED({ .locked = true })

#define GATEWAY (stack.service[STACK_CHAT_GATEWAY].http)

/* ---- roles ---------------------------------------------------------------- */

static const struct {
	enum wire_role role;
	enum lock_who who;
} roles[] = {
	{ WIRE_ROLE_OWNER, LOCK_MALLORY },
	{ WIRE_ROLE_OWNER, LOCK_ACME_ADA },
	{ WIRE_ROLE_TERMINAL, LOCK_LAMP },
	{ WIRE_ROLE_MAKER, LOCK_MAKER },
	{ WIRE_ROLE_MAKER, LOCK_ACME_MAKER },
	{ WIRE_ROLE_OPERATOR, LOCK_OPERATOR },
	{ WIRE_ROLE_OPERATOR, LOCK_ACME_OPERATOR },
};

static int
port_of(const char *service)
{
	enum stack_service i;

	for (i = 0; i < STACK_SERVICES; i++)
		if (strcmp(stack_name(i), service) == 0)
			return stack.service[i].http;
	ck_abort_msg("no service %s", service);
	return 0;
}

/* The path with something in each placeholder. */
static const char *
filled(const char *path)
{
	static char text[256];
	size_t n = 0;

	for (; *path != '\0'; path++) {
		text[n++] = *path == '{' ? 'x' : *path;
		if (*path == '{')
			path = strchr(path, '}');
		ck_assert_uint_lt(n, sizeof(text) - 1);
	}
	text[n] = '\0';
	return text;
}

/* Nobody's request, for which all but the role is wrong. */
static int
ask_route(const struct wire_route *r, const char *token)
{
	return knock(
	    &(struct knock){ .port = port_of(r->owner),
		.from = 31,
		.method = r->method,
		.path = filled(r->path),
		.token = token,
		.body = r->request != NULL ? "{}" : NULL },
	    NULL);
}

KIT_TEST_T(each_role_may_ask_its_routes_only, 60)
{
	struct owner o = neighbour_settle(&stack);
	struct neighbour *n = neighbour_begin(&o);
	const struct wire_route *r;
	size_t i, k;
	int status;

	for (i = 0; i < wire_routes_n; i++) {
		r = &wire_routes[i];
		ck_assert_uint_ne(r->roles, 0);
		status = ask_route(r, NULL);
		ck_assert_msg(status == 401, "%s: %d", r->name, status);
		for (k = 0; k < NELEM(roles); k++) {
			if ((r->roles & 1U << roles[k].role) != 0)
				continue;
			status = ask_route(r, lock_token(roles[k].who));
			ck_assert_msg(status == 403, "%s as %s: %d", r->name,
			    lock_token(roles[k].who), status);
		}
	}
	neighbour_end(n, NULL);
}

/* ---- another user's things ------------------------------------------------ */

#define SECRET "only-ada-knows-this"

/* What ada has. */
struct things {
	char soul[64], memory[128];
	struct body body;
	struct owner owner;
};

static void
as(enum lock_who who)
{
	owner_is(lock_token(who), NULL);
}

static void
settle_ada(struct things *t)
{
	as(LOCK_ADA);
	snprintf(t->soul, sizeof(t->soul), "%s",
	    owner_soul(&stack, "ada", SECRET, "INTJ"));
	t->owner = (struct owner){ &stack, "ada", "s1", LOCK_VICTIM };
	t->body = (struct body){ .user = "ada" };
	body_connect(&t->body, &stack, LOCK_VICTIM, BODY_SPEAKS_0222);
	owner_select(&stack, "ada", LOCK_VICTIM, t->soul);
	json_decref(owner_say(&t->owner, "我记得 " SECRET));
	json_decref(owner_ok(&stack, "PATCH", "/v1/users/ada/profile",
	    json_pack("{s{ss}}", "preferences", "tea", SECRET)));
}

/* All that ada can see of what is hers. */
static json_t *
look_at_all(const struct things *t)
{
	static const char *const paths[] = { "/v1/souls",
		"/v1/sessions/s1/messages", "/v1/terminals",
		"/v1/users/ada/profile", "/v1/memories" };
	json_t *all = json_array();
	size_t i;

	(void)t;
	as(LOCK_ADA);
	for (i = 0; i < NELEM(paths); i++)
		json_array_append_new(
		    all, owner_ok(&stack, "GET", paths[i], NULL));
	return all;
}

/* @: the soul. */
static const struct {
	const char *method, *path, *body;
} wanted[] = {
	{ "GET", "/v1/souls?user_id=ada", NULL },
	{ "POST", "/v1/souls",
	    "{\"user_id\":\"ada\",\"name\":\"x\",\"mbti_type\":\"INTJ\"}" },
	{ "DELETE", "/v1/souls/@", NULL },
	{ "DELETE", "/v1/souls/@?user_id=ada", NULL },
	{ "DELETE", "/v1/souls/@?user_id=mallory", NULL },
	{ "GET", "/v1/souls/@/emotion", NULL },
	{ "GET", "/v1/souls/@/emotion?user_id=ada", NULL },
	{ "GET", "/v1/souls/@/emotion/history", NULL },
	{ "GET", "/v1/souls/@/emotion/history?user_id=ada", NULL },
	{ "GET", "/v1/sessions/s1/messages", NULL },
	{ "GET", "/v1/sessions/s1/messages?user_id=ada", NULL },
	{ "GET", "/v1/sessions/s1/events?user_id=ada", NULL },
	{ "DELETE", "/v1/sessions/s1", NULL },
	{ "DELETE", "/v1/sessions/s1?user_id=ada", NULL },
	{ "GET", "/v1/memories?user_id=ada", NULL },
	{ "GET", "/v1/memories?soul_id=@", NULL },
	{ "GET", "/v1/memories?user_id=ada&soul_id=@&query=tea", NULL },
	{ "GET", "/v1/memories?soul_id=@&query=tea", NULL },
	{ "GET", "/v1/memories/export?user_id=ada", NULL },
	{ "GET", "/v1/memories/export?soul_id=@", NULL },
	{ "DELETE", "/v1/memories?user_id=ada", NULL },
	{ "DELETE", "/v1/memories?user_id=ada&soul_id=@", NULL },
	{ "DELETE", "/v1/memories?soul_id=@", NULL },
	{ "DELETE", "/v1/memories/m1?user_id=ada&soul_id=@", NULL },
	{ "DELETE", "/v1/memories/m1?soul_id=@", NULL },
	{ "GET", "/v1/users/ada/profile", NULL },
	{ "GET", "/v1/users/ADA/profile", NULL },
	{ "GET", "/v1/users/%61da/profile", NULL },
	{ "GET", "/v1/users/mallory%2f..%2fada/profile", NULL },
	{ "GET", "/v1/users/ada%00/profile", NULL },
	{ "PATCH", "/v1/users/ada/profile", "{\"name\":\"mallory\"}" },
	{ "GET", "/v1/terminals?user_id=ada", NULL },
	{ "GET", "/v1/terminals/" LOCK_VICTIM, NULL },
	{ "GET", "/v1/terminals/" LOCK_VICTIM "?user_id=ada", NULL },
	{ "GET", "/v1/terminals/victim%2d1", NULL },
	{ "DELETE", "/v1/terminals/" LOCK_VICTIM "/soul", NULL },
	{ "DELETE", "/v1/terminals/" LOCK_VICTIM "/soul?user_id=ada", NULL },
	{ "POST", "/v1/souls/select",
	    "{\"terminal_id\":\"" LOCK_VICTIM "\",\"soul_id\":\"@\"}" },
	{ "POST", "/v1/souls/select",
	    "{\"user_id\":\"ada\",\"terminal_id\":\"" LOCK_VICTIM
	    "\",\"soul_id\":\"@\"}" },
	{ "POST", "/v1/souls/select",
	    "{\"user_id\":\"mallory\",\"terminal_id\":\"" LOCK_EVIL
	    "\",\"soul_id\":\"@\"}" },
	{ "POST", "/v1/chat",
	    "{\"session_id\":\"s1\",\"terminal_id\":\"" LOCK_VICTIM
	    "\",\"inputs\":[{\"type\":\"keyboard_text\",\"text\":\"hi\"}]}" },
	{ "POST", "/v1/chat",
	    "{\"user_id\":\"ada\",\"session_id\":\"s1\",\"terminal_id\":\""
	    LOCK_VICTIM
	    "\",\"inputs\":[{\"type\":\"keyboard_text\",\"text\":\"hi\"}]}" },
	{ "POST", "/v1/chat",
	    "{\"user_id\":\"mallory\",\"session_id\":\"s1\",\"terminal_id\":\""
	    LOCK_VICTIM "\",\"soul_id\":\"@\",\"inputs\":[{\"type\":"
	    "\"keyboard_text\",\"text\":\"hi\"}]}" },
};

static void
fill(char dst[512], const char *text, const char *soul)
{
	struct buf b = BUF_INIT(511);

	for (; text != NULL && *text != '\0'; text++) {
		if (*text == '@')
			buf_puts(&b, soul);
		else
			buf_putc(&b, *text);
	}
	snprintf(dst, 512, "%.*s", (int)b.n, b.n > 0 ? b.p : "");
	buf_free(&b);
}

/* Somebody with that token tries all of it. */
static void
try_all(const struct things *t, const char *token)
{
	struct kit_answer a = { 0 };
	char path[512], body[512];
	size_t i;
	int status;

	for (i = 0; i < NELEM(wanted); i++) {
		fill(path, wanted[i].path, t->soul);
		fill(body, wanted[i].body, t->soul);
		status = knock(
		    &(struct knock){ .port = GATEWAY,
			.from = 32,
			.method = wanted[i].method,
			.path = path,
			.token = token,
			.body = wanted[i].body != NULL ? body : NULL },
		    &a);
		ck_assert_msg(status == 403 || status == 404 || status == 400,
		    "%s: %s %s %s: %d %.*s", token, wanted[i].method, path,
		    body, status, STR_ARG(buf_str(&a.body)));
		ck_assert(!kit_answer_has(&a, SECRET));
	}
	kit_answer_free(&a);
}

KIT_TEST_T(things_of_others_stay_theirs, 60)
{
	static const enum lock_who others[] = { LOCK_MALLORY, LOCK_ACME_ADA,
		LOCK_GLOBEX_OPERATOR, LOCK_MAKER, LOCK_LAMP };
	struct owner o = neighbour_settle(&stack);
	struct neighbour *n;
	struct things t;
	json_t *before, *after;
	size_t i;

	settle_ada(&t);
	before = look_at_all(&t);
	n = neighbour_begin(&o);
	for (i = 0; i < NELEM(others); i++)
		try_all(&t, lock_token(others[i]));
	try_all(&t, lock_body_token(LOCK_EVIL));
	after = look_at_all(&t);
	ck_assert_msg(json_equal(before, after), "%s\n%s",
	    json_dumps(before, 0), json_dumps(after, 0));
	json_decref(owner_say(&t.owner, "把灯变成绿色"));
	neighbour_end(n, NULL);
	json_decref(before);
	json_decref(after);
	body_free(&t.body);
}
