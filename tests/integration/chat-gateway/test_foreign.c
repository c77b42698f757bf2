/*
 * What is another user's is not there: for a stranger, for who has the same
 * name in a tenant, for the operator of that tenant.
 */
#include "known.h"
#include "orch.h"
#include "recollect.h"

/* All that demo-user has: a soul, a body, memories, a profile, a turn. */
struct having {
	struct recollect r;
	struct run run;
	char soul[SOUL_ID];
};

static void
having_start(struct having *h)
{
	h->r = (struct recollect){ 0 };
	known_start(&h->r.b);
	recollect_worker(&h->r);
	soul_as(&h->r.b, DEMO, "friendly", h->soul);
	minted(&h->r.b, PROVISIONER, "t1");
	select_as(&h->r.b, DEMO, "t1", h->soul, NULL);
	remember(&h->r, "demo-user", h->soul, "m1", "a secret", 1000);
	done_as(&h->r.b, DEMO, "PATCH", "/v1/users/demo-user/profile",
	    "{\"user_profile\":{\"name\":\"Demo\"}}");
	run_begin(&h->run, &h->r.b, "s1", "turn_1");
	run_end(&h->run);
}

static void
having_stop(struct having *h)
{
	recollect_stop(&h->r);
}

/* Who else asks, and how he names himself where he must. */
static const struct {
	const char *token, *query;
} strangers[] = {
	{ BOB, "" },
	{ TWIN, "" },
	{ ACME_OP, "user_id=demo-user" },
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
	struct bed *b = &h->r.b;
	json_t *j;

	done_as(b, DEMO, "GET", path_for(h, "/v1/souls/@/emotion", ""), NULL);
	done_as(b, DEMO, "GET", "/v1/sessions/s1/messages", NULL);
	done_as(b, DEMO, "GET", "/v1/turns/turn_1", NULL);
	j = take_as(b, DEMO, "GET", "/v1/terminals/t1", NULL);
	ck_assert_str_eq(tk_text(j, "soul_id"), h->soul);
	json_decref(j);
	j = take_as(b, DEMO, "GET", "/v1/memories", NULL);
	ck_assert_uint_eq(items_n(j), 1);
	json_decref(j);
	j = take_as(b, DEMO, "GET", "/v1/users/demo-user/profile", NULL);
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
			refused_as(&h.r.b, strangers[k].token, asks[i].method,
			    path_for(&h, asks[i].path, strangers[k].query),
			    asks[i].body, asks[i].want);
	refused_as(&h.r.b, BOB, "POST", "/v1/turns/turn_1/cancel", NULL,
	    "404 turn not found");
	refused_as(&h.r.b, ACME_OP, "POST", "/v1/turns/turn_1/cancel",
	    "{\"user_id\":\"demo-user\"}", "404 turn not found");
	/* It has ended, but it is his. */
	done_as(&h.r.b, DEMO, "POST", "/v1/turns/turn_1/cancel", NULL);
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
			j = take_as(
			    &h.r.b, strangers[k].token, "GET", path, NULL);
			ck_assert_msg(items_n(j) == 0, "%s", path);
			json_decref(j);
		}
		path = path_for(&h, "/v1/memories/export", strangers[k].query);
		ck_assert_int_eq(
		    ask_as(&h.r.b, &a, strangers[k].token, "GET", path, NULL),
		    200);
		ck_assert(tk_answer_has(&a, "\"end\""));
		ck_assert(!tk_answer_has(&a, "secret"));
		ck_assert(!tk_answer_has(&a, "Demo"));
	}
	/* Whoever is named, he is of the caller's tenant. */
	j = take_as(
	    &h.r.b, TWIN, "DELETE", "/v1/memories?user_id=demo-user", NULL);
	ck_assert_int_eq(tk_int(j, "forgotten"), 0);
	json_decref(j);
	ck_whole(&h);
	/* Nobody forgets everything without naming himself. */
	refused_as(&h.r.b, DEMO, "DELETE", "/v1/memories", NULL,
	    "400 user_id: must be named: there is no default here");
	tk_answer_free(&a);
	having_stop(&h);
}

/* A session of the same name is another one. */
TEST(anothers_events_are_not_heard)
{
	struct tk_http mine = { 0 }, his = { 0 };
	static const char ask[] =
	    "GET /v1/sessions/s2/events?cursor=0 HTTP/1.1\r\n"
	    "Host: localhost\r\n"
	    "Authorization: Bearer %s\r\n\r\n";
	struct having h;
	char text[256];

	having_start(&h);
	tk_http_open(&mine, h.r.b.gateway.http);
	snprintf(text, sizeof(text), ask, DEMO);
	ck_assert(tk_http_puts(&mine, text));
	tk_http_open(&his, h.r.b.gateway.http);
	snprintf(text, sizeof(text), ask, TWIN);
	ck_assert(tk_http_puts(&his, text));
	ck_assert(tk_http_has(&mine, "retry: ", BED_MS));
	ck_assert(tk_http_has(&his, "retry: ", BED_MS));
	run_begin(&h.run, &h.r.b, "s2", "turn_2");
	run_delta(&h.run, "a secret");
	ck_assert(tk_http_has(&mine, "a secret", BED_MS));
	/* By then the log was looked at for him, too. */
	ck_assert(!tk_http_has(&his, "data: ", 2500));
	tk_http_close(&mine);
	tk_http_close(&his);
	having_stop(&h);
}

/* Souls and bodies of others cannot be used, nor told from what is not. */
TEST(anothers_souls_cannot_be_bound)
{
	char other[SOUL_ID], body[512];
	struct having h;

	having_start(&h);
	soul_as(&h.r.b, BOB, "other", other);
	minted(&h.r.b, PROVISIONER, "t2");
	select_as(&h.r.b, BOB, "t2", h.soul, "400 soul not found");
	select_as(&h.r.b, BOB, "t2", "soul_none", "400 soul not found");
	select_as(&h.r.b, BOB, "t1", other,
	    "409 terminal t1 is bound by another user");
	no_chat_as(
	    &h.r.b, BOB, "t1", "409 terminal t1 is bound by another user");
	snprintf(body, sizeof(body),
	    "{\"terminal_id\":\"t2\",\"soul_id\":\"%s\"," WORDS "}", h.soul);
	select_as(&h.r.b, BOB, "t2", other, NULL);
	refused_as(&h.r.b, BOB, "POST", "/v1/chat", body, "400 soul not found");
	ck_whole(&h);
	having_stop(&h);
}
