/*
 * Data of other users is reported as missing: to a stranger, to a user of the
 * same name in a tenant, to the operator of that tenant.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/gateway_turn_fixture.h"
#include "testkit/run_fixture.h"

/* All data of demo-user: a soul, a terminal, memories, a profile, a turn, a
 * run.
 */
struct victim {
	struct gateway_memory_fixture r;
	struct gw_run gw_run;
	char soul[GW_SOUL_ID];
	char run[RUN_ID_MAX];
};

static void
victim_start(struct victim *h)
{
	struct run_new new = run_fixture_new();

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
	new.user_id = STR("demo-user");
	ck_assert_int_eq(run_create(h->r.b.db.s, &new), RC_OK);
	str_copy(str_of(new.run_id), h->run, sizeof(h->run));
}

static void
victim_stop(struct victim *h)
{
	gw_memory_stop(&h->r);
}

/* Other callers, and the query that names them where it is required. */
static const struct {
	const char *token, *query;
} other_callers[] = {
	{ TOKEN_BOB, "" },
	{ TOKEN_TENANT_DEMO, "" },
	{ TOKEN_ACME_OPERATOR, "user_id=demo-user" },
};

/* "@" is replaced by the soul's id, "%" by the run's. */
static const struct {
	const char *method, *path, *body;
	const char *want;
} requests[] = {
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
	{ "GET", "/v1/runs/%", NULL, "404 run not found" },
	{ "DELETE", "/v1/runs/%", NULL, "404 run not found" },
	{ "GET", "/v1/runs/%/events", NULL, "404 run not found" },
	{ "GET", "/v1/runs/%/rasp", NULL, "404 run not found" },
	{ "GET", "/v1/runs/%/logs?stream=stdout", NULL, "404 run not found" },
	{ "GET", "/v1/runs/%/files", NULL, "404 run not found" },
	{ "GET", "/v1/runs/%/files/content?path=a", NULL, "404 run not found" },
};

static const char *
request_path(const struct victim *h, const char *path, const char *query)
{
	const char *at = strpbrk(path, "@%");
	static char dst[300];
	int n = at != NULL ? (int)(at - path) : (int)strlen(path);

	snprintf(dst, sizeof(dst), "%.*s%s%s", n, path,
	    at == NULL       ? ""
		: *at == '@' ? h->soul
			     : h->run,
	    at != NULL ? at + 1 : "");
	n = (int)strlen(dst);
	snprintf(dst + n, sizeof(dst) - (size_t)n, "%s%s",
	    query[0] == '\0'               ? ""
		: strchr(dst, '?') != NULL ? "&"
					   : "?",
	    query);
	return dst;
}

/* All data of demo-user is still there. */
static void
check_unchanged(struct victim *h)
{
	struct gateway_fixture *b = &h->r.b;
	json_t *j;

	gw_ok_as(b, TOKEN_DEMO, "GET",
	    request_path(h, "/v1/souls/@/emotion", ""), NULL);
	gw_ok_as(b, TOKEN_DEMO, "GET", "/v1/sessions/s1/messages", NULL);
	gw_ok_as(b, TOKEN_DEMO, "GET", "/v1/turns/turn_1", NULL);
	gw_ok_as(b, TOKEN_DEMO, "GET", request_path(h, "/v1/runs/%", ""), NULL);
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

TEST(data_of_other_users_is_not_found)
{
	struct victim h;
	size_t i, k;

	victim_start(&h);
	check_unchanged(&h);
	for (k = 0; k < NELEM(other_callers); k++)
		for (i = 0; i < NELEM(requests); i++)
			gw_rejects_as(&h.r.b, other_callers[k].token,
			    requests[i].method,
			    request_path(
				&h, requests[i].path, other_callers[k].query),
			    requests[i].body, requests[i].want);
	gw_rejects_as(&h.r.b, TOKEN_BOB, "POST", "/v1/turns/turn_1/cancel",
	    NULL, "404 turn not found");
	gw_rejects_as(&h.r.b, TOKEN_ACME_OPERATOR, "POST",
	    "/v1/turns/turn_1/cancel", "{\"user_id\":\"demo-user\"}",
	    "404 turn not found");
	/* The turn has ended, but it is visible. */
	gw_ok_as(&h.r.b, TOKEN_DEMO, "POST", "/v1/turns/turn_1/cancel", NULL);
	check_unchanged(&h);
	victim_stop(&h);
}

/* Lists for other users are empty, and they delete only their own data. */
TEST(lists_for_other_users_are_empty)
{
	static const char *const lists[] = { "/v1/souls", "/v1/terminals",
		"/v1/runs", "/v1/memories", "/v1/memories?soul_id=@",
		"/v1/memories?soul_id=@&query=secret" };
	struct tk_response a = { 0 };
	struct victim h;
	const char *path;
	size_t i, k;
	json_t *j;

	victim_start(&h);
	for (k = 0; k < NELEM(other_callers); k++) {
		for (i = 0; i < NELEM(lists); i++) {
			path =
			    request_path(&h, lists[i], other_callers[k].query);
			j = gw_json_as(
			    &h.r.b, other_callers[k].token, "GET", path, NULL);
			ck_assert_msg(gw_items_n(j) == 0, "%s", path);
			json_decref(j);
		}
		path = request_path(
		    &h, "/v1/memories/export", other_callers[k].query);
		ck_assert_int_eq(gw_request_as(&h.r.b, &a,
				     other_callers[k].token, "GET", path, NULL),
		    200);
		ck_assert(tk_response_has(&a, "\"end\""));
		ck_assert(!tk_response_has(&a, "secret"));
		ck_assert(!tk_response_has(&a, "Demo"));
	}
	/* The named user is one of the caller's tenant. */
	j = gw_json_as(&h.r.b, TOKEN_TENANT_DEMO, "DELETE",
	    "/v1/memories?user_id=demo-user", NULL);
	ck_assert_int_eq(tk_int(j, "forgotten"), 0);
	json_decref(j);
	check_unchanged(&h);
	/* Deleting everything requires a user_id. */
	gw_rejects_as(&h.r.b, TOKEN_DEMO, "DELETE", "/v1/memories", NULL,
	    "400 user_id: must be named: there is no default here");
	tk_response_free(&a);
	victim_stop(&h);
}

/* A session of the same name belongs to another user. */
TEST(events_of_other_users_are_not_received)
{
	struct tk_http mine = { 0 }, other = { 0 };
	static const char gw_request[] =
	    "GET /v1/sessions/s2/events?cursor=0 HTTP/1.1\r\n"
	    "Host: localhost\r\n"
	    "Authorization: Bearer %s\r\n\r\n";
	struct victim h;
	char text[256];

	victim_start(&h);
	tk_http_open(&mine, h.r.b.gateway.http);
	snprintf(text, sizeof(text), gw_request, TOKEN_DEMO);
	ck_assert(tk_http_puts(&mine, text));
	tk_http_open(&other, h.r.b.gateway.http);
	snprintf(text, sizeof(text), gw_request, TOKEN_TENANT_DEMO);
	ck_assert(tk_http_puts(&other, text));
	ck_assert(tk_http_has(&mine, "retry: ", GW_MS));
	ck_assert(tk_http_has(&other, "retry: ", GW_MS));
	gw_run_begin(&h.gw_run, &h.r.b, "s2", "turn_2");
	gw_run_delta(&h.gw_run, "a secret");
	ck_assert(tk_http_has(&mine, "a secret", GW_MS));
	/* Longer than the poll interval of the log. */
	ck_assert(!tk_http_has(&other, "data: ", 2500));
	tk_http_close(&mine);
	tk_http_close(&other);
	victim_stop(&h);
}

/*
 * Souls and terminals of other users are indistinguishable from missing ones.
 */
TEST(souls_of_other_users_cannot_be_bound)
{
	char other[GW_SOUL_ID], body[512];
	struct victim h;

	victim_start(&h);
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
	check_unchanged(&h);
	victim_stop(&h);
}
