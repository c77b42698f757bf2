/*
 * What is another user's is not there: for a stranger, for who has the same
 * name in a tenant, for the operator of that tenant.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/gateway_fixture.h"
#include "testkit/gateway_turn_fixture.h"
#include "testkit/http.h"
#include "testkit/json.h"
#include "testkit/testkit.h"

/* All that demo-user has: a soul, a body, memories, a profile, a turn. */
struct having {
	struct gateway_memory_fixture r;
	struct gw_run gw_run;
	char soul[GW_SOUL_ID];
};

static void
having_start(struct having *h)
{
	h->r = (struct gateway_memory_fixture){ 0 };
	gw_start_with_tokens(&h->r.b);
	gw_memory_worker(&h->r);
	gw_soul_as(&h->r.b, TOKEN_DEMO, "friendly", h->soul);
	gw_mint_ok_as(&h->r.b, TOKEN_PROVISIONER, "t1");
	gw_bind_as(&h->r.b, TOKEN_DEMO, "t1", h->soul, NULL);
	gw_put_memory(&h->r, "demo-user", h->soul, "m1", "a secret", 1000);
	gw_ok_as(&h->r.b, TOKEN_DEMO, "PATCH", "/v1/users/demo-user/profile",
	    "{\"user_profile\":{\"name\":\"Demo\"}}");
	gw_run_begin(&h->gw_run, &h->r.b, "s1", "turn_1");
	gw_run_end(&h->gw_run);
}

static void
having_stop(struct having *h)
{
	gw_memory_stop(&h->r);
}

/* Who else asks, and how he names himself where he must. */
static const struct {
	const char *token, *query;
} strangers[] = {
	{ TOKEN_BOB, "" },
	{ TOKEN_TENANT_DEMO, "" },
	{ TOKEN_ACME_OPERATOR, "user_id=demo-user" },
};

/* "@" is the soul. */
static const struct {
	const char *method, *path, *body;
	const char *want;
} asks[] = {
	{ "GET", "/v1/souls/@/emotion", NULL, "404 soul not found" },
	{ "GET", "/v1/souls/@/emotion/history", NULL, "404 soul not found" },
	{ "DELETE", "/v1/souls/@", NULL, "404 soul not found" },
	{ "GET", "/v1/terminals/t1", NULL, "404 terminal not found" },
	{ "DELETE", "/v1/terminals/t1/soul", NULL, "404 terminal not found" },
	{ "GET", "/v1/sessions/s1/messages", NULL, "404 session not found" },
	{ "GET", "/v1/sessions/s1/events", NULL, "404 session not found" },
	{ "DELETE", "/v1/sessions/s1", NULL, "404 session not found" },
	{ "GET", "/v1/turns/turn_1", NULL, "404 turn not found" },
	{ "DELETE", "/v1/memories/m1", NULL, "404 memory not found" },
	{ "DELETE", "/v1/memories/m1?soul_id=@", NULL, "404 memory not found" },
};

static const char *
path_for(const struct having *h, const char *path, const char *query)
{
	const char *at = strchr(path, '@');
	static char dst[300];
	int n = at != NULL ? (int)(at - path) : (int)strlen(path);

	snprintf(dst, sizeof(dst), "%.*s%s%s", n, path,
	    at != NULL ? h->soul : "", at != NULL ? at + 1 : "");
	n = (int)strlen(dst);
	snprintf(dst + n, sizeof(dst) - (size_t)n, "%s%s",
	    query[0] == '\0'               ? ""
		: strchr(dst, '?') != NULL ? "&"
					   : "?",
	    query);
	return dst;
}

/* What demo-user sees is all there. */
static void
ck_whole(struct having *h)
{
	struct gateway_fixture *b = &h->r.b;
	json_t *j;

	gw_ok_as(
	    b, TOKEN_DEMO, "GET", path_for(h, "/v1/souls/@/emotion", ""), NULL);
	gw_ok_as(b, TOKEN_DEMO, "GET", "/v1/sessions/s1/messages", NULL);
	gw_ok_as(b, TOKEN_DEMO, "GET", "/v1/turns/turn_1", NULL);
	j = gw_json_as(b, TOKEN_DEMO, "GET", "/v1/terminals/t1", NULL);
	ck_assert_str_eq(tk_text(j, "soul_id"), h->soul);
	json_decref(j);
	j = gw_json_as(b, TOKEN_DEMO, "GET", "/v1/memories", NULL);
	ck_assert_uint_eq(gw_items_n(j), 1);
	json_decref(j);
	j = gw_json_as(
	    b, TOKEN_DEMO, "GET", "/v1/users/demo-user/profile", NULL);
	ck_assert_str_eq(tk_text(j, "user_profile.name"), "Demo");
	json_decref(j);
}

TEST(anothers_things_are_not_found)
{
	struct having h;
	size_t i, k;

	having_start(&h);
	ck_whole(&h);
	for (k = 0; k < NELEM(strangers); k++)
		for (i = 0; i < NELEM(asks); i++)
			gw_rejects_as(&h.r.b, strangers[k].token,
			    asks[i].method,
			    path_for(&h, asks[i].path, strangers[k].query),
			    asks[i].body, asks[i].want);
	gw_rejects_as(&h.r.b, TOKEN_BOB, "POST", "/v1/turns/turn_1/cancel",
	    NULL, "404 turn not found");
	gw_rejects_as(&h.r.b, TOKEN_ACME_OPERATOR, "POST",
	    "/v1/turns/turn_1/cancel", "{\"user_id\":\"demo-user\"}",
	    "404 turn not found");
	/* It has ended, but it is his. */
	gw_ok_as(&h.r.b, TOKEN_DEMO, "POST", "/v1/turns/turn_1/cancel", NULL);
	ck_whole(&h);
	having_stop(&h);
}

/* Lists of others are empty, and what they forget is their own. */
TEST(anothers_lists_are_empty)
{
	static const char *const lists[] = { "/v1/souls", "/v1/terminals",
		"/v1/memories", "/v1/memories?soul_id=@",
		"/v1/memories?soul_id=@&query=secret" };
	struct tk_answer a = { 0 };
	struct having h;
	const char *path;
	size_t i, k;
	json_t *j;

	having_start(&h);
	for (k = 0; k < NELEM(strangers); k++) {
		for (i = 0; i < NELEM(lists); i++) {
			path = path_for(&h, lists[i], strangers[k].query);
			j = gw_json_as(
			    &h.r.b, strangers[k].token, "GET", path, NULL);
			ck_assert_msg(gw_items_n(j) == 0, "%s", path);
			json_decref(j);
		}
		path = path_for(&h, "/v1/memories/export", strangers[k].query);
		ck_assert_int_eq(gw_request_as(&h.r.b, &a, strangers[k].token,
				     "GET", path, NULL),
		    200);
		ck_assert(tk_answer_has(&a, "\"end\""));
		ck_assert(!tk_answer_has(&a, "secret"));
		ck_assert(!tk_answer_has(&a, "Demo"));
	}
	/* Whoever is named, he is of the caller's tenant. */
	j = gw_json_as(&h.r.b, TOKEN_TENANT_DEMO, "DELETE",
	    "/v1/memories?user_id=demo-user", NULL);
	ck_assert_int_eq(tk_int(j, "forgotten"), 0);
	json_decref(j);
	ck_whole(&h);
	/* Nobody forgets everything without naming himself. */
	gw_rejects_as(&h.r.b, TOKEN_DEMO, "DELETE", "/v1/memories", NULL,
	    "400 user_id: must be named: there is no default here");
	tk_answer_free(&a);
	having_stop(&h);
}

/* A session of the same name is another one. */
TEST(anothers_events_are_not_heard)
{
	struct tk_http mine = { 0 }, his = { 0 };
	static const char gw_request[] =
	    "GET /v1/sessions/s2/events?cursor=0 HTTP/1.1\r\n"
	    "Host: localhost\r\n"
	    "Authorization: Bearer %s\r\n\r\n";
	struct having h;
	char text[256];

	having_start(&h);
	tk_http_open(&mine, h.r.b.gateway.http);
	snprintf(text, sizeof(text), gw_request, TOKEN_DEMO);
	ck_assert(tk_http_puts(&mine, text));
	tk_http_open(&his, h.r.b.gateway.http);
	snprintf(text, sizeof(text), gw_request, TOKEN_TENANT_DEMO);
	ck_assert(tk_http_puts(&his, text));
	ck_assert(tk_http_has(&mine, "retry: ", GW_MS));
	ck_assert(tk_http_has(&his, "retry: ", GW_MS));
	gw_run_begin(&h.gw_run, &h.r.b, "s2", "turn_2");
	gw_run_delta(&h.gw_run, "a secret");
	ck_assert(tk_http_has(&mine, "a secret", GW_MS));
	/* By then the log was looked at for him, too. */
	ck_assert(!tk_http_has(&his, "data: ", 2500));
	tk_http_close(&mine);
	tk_http_close(&his);
	having_stop(&h);
}

/* Souls and bodies of others cannot be used, nor told from what is not. */
TEST(anothers_souls_cannot_be_bound)
{
	char other[GW_SOUL_ID], body[512];
	struct having h;

	having_start(&h);
	gw_soul_as(&h.r.b, TOKEN_BOB, "other", other);
	gw_mint_ok_as(&h.r.b, TOKEN_PROVISIONER, "t2");
	gw_bind_as(&h.r.b, TOKEN_BOB, "t2", h.soul, "400 soul not found");
	gw_bind_as(&h.r.b, TOKEN_BOB, "t2", "soul_none", "400 soul not found");
	gw_bind_as(&h.r.b, TOKEN_BOB, "t1", other,
	    "409 terminal t1 is bound by another user");
	gw_chat_rejects_as(&h.r.b, TOKEN_BOB, "t1",
	    "409 terminal t1 is bound by another user");
	snprintf(body, sizeof(body),
	    "{\"terminal_id\":\"t2\",\"soul_id\":\"%s\"," GW_CHAT_INPUT "}",
	    h.soul);
	gw_bind_as(&h.r.b, TOKEN_BOB, "t2", other, NULL);
	gw_rejects_as(
	    &h.r.b, TOKEN_BOB, "POST", "/v1/chat", body, "400 soul not found");
	ck_whole(&h);
	having_stop(&h);
}
