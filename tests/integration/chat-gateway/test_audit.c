/*
 * What is told of who did what: once it is done, and of who was refused.
 */
#include "heard.h"
#include "known.h"
#include "recollect.h"

/* Something that is asked (NULL: nothing more), and what is told of it; NULL:
 * nothing. */
struct deed {
	const char *token, *method, *path, *body;
	int status;
	const char *action, *role, *caller, *user, *terminal, *reason;
	int count; /* -1: none */
};

static const char *
text_at(json_t *j, const char *path)
{
	json_t *e = tk_find(j, path);

	return e != NULL ? json_string_value(e) : "";
}

static void
ck_deed(struct bed *b, natsSubscription *sub, const struct deed *d)
{
	struct tk_answer a = { 0 };
	json_t *j;

	if (d->method != NULL) {
		ask_as(b, &a, d->token, d->method, d->path, d->body);
		ck_assert_msg(a.status == d->status, "%s %s by %s: %d %s",
		    d->method, d->path, d->token, a.status, a.body.p);
		tk_answer_free(&a);
	}
	if (d->action == NULL)
		return;
	j = heard(sub, d->action);
	ck_assert_str_eq(text_at(j, "payload.role"), d->role);
	ck_assert_str_eq(text_at(j, "payload.caller_id"), d->caller);
	ck_assert_str_eq(text_at(j, "payload.user_id"), d->user);
	ck_assert_str_eq(text_at(j, "payload.terminal_id"), d->terminal);
	ck_assert_str_eq(text_at(j, "payload.reason"), d->reason);
	ck_assert_str_eq(text_at(j, "payload.address"), "127.0.0.1");
	if (d->count < 0)
		ck_assert_ptr_null(tk_find(j, "payload.count"));
	else
		ck_assert_int_eq(tk_int(j, "payload.count"), d->count);
	json_decref(j);
}

#define DELETED "memories_deleted", "owner", "ann", "ann", "", ""

static const struct deed deeds[] = {
	{ PROVISIONER, "POST", "/v1/terminals", "{\"terminal_id\":\"lamp\"}",
	    200, "terminal_minted", "provisioner", "", "", "lamp", "", -1 },
	/* What is refused is not done. */
	{ PROVISIONER, "POST", "/v1/terminals", "{\"terminal_id\":\"lamp\"}",
	    409, NULL, NULL, NULL, NULL, NULL, NULL, 0 },
	{ ANN, "POST", "/v1/chat",
	    "{\"terminal_id\":\"lamp\",\"soul_hint\":\"none\"," WORDS "}", 400,
	    NULL, NULL, NULL, NULL, NULL, NULL, 0 },
	{ ANN, "POST", "/v1/chat",
	    "{\"terminal_id\":\"lamp\",\"soul_hint\":\"friendly\"," WORDS "}",
	    200, "binding_changed", "owner", "ann", "ann", "lamp", "soul_hint",
	    -1 },
	/* It is bound by now. */
	{ ANN, "POST", "/v1/chat", "{\"terminal_id\":\"lamp\"," WORDS "}", 200,
	    NULL, NULL, NULL, NULL, NULL, NULL, 0 },
	{ ANN, "DELETE", "/v1/terminals/lamp/soul", NULL, 200,
	    "binding_changed", "owner", "ann", "ann", "lamp", "unbound", -1 },
	{ ANN, "DELETE", "/v1/terminals/lamp/soul", NULL, 404, NULL, NULL, NULL,
	    NULL, NULL, NULL, 0 },
	{ PROVISIONER, "POST", "/v1/terminals/lamp/rotate", NULL, 200,
	    "terminal_rotated", "provisioner", "", "", "lamp", "", -1 },
	{ PROVISIONER, "DELETE", "/v1/terminals/lamp", NULL, 200,
	    "terminal_revoked", "provisioner", "", "", "lamp", "", -1 },
	{ ANN, "PATCH", "/v1/users/ann/profile", "{}", 200, "profile_changed",
	    "owner", "ann", "ann", "", "", -1 },
	{ ANN, "GET", "/v1/memories/export", NULL, 200, "memories_exported",
	    "owner", "ann", "ann", "", "complete", 3 },
	{ ROOT, "GET", "/v1/memories/export?user_id=ann", NULL, 200,
	    "memories_exported", "operator", "", "ann", "", "complete", 3 },
	{ ANN, "GET", "/v1/memories", NULL, 200, NULL, NULL, NULL, NULL, NULL,
	    NULL, 0 },
	{ ANN, "DELETE", "/v1/memories/none", NULL, 404, NULL, NULL, NULL, NULL,
	    NULL, NULL, 0 },
	{ ANN, "DELETE", "/v1/memories/m1", NULL, 200, DELETED, 1 },
	{ ANN, "DELETE", "/v1/memories?user_id=ann", NULL, 200, DELETED, 2 },
	/* By the same. */
	{ NULL, NULL, NULL, NULL, 0, "profile_changed", "owner", "ann", "ann",
	    "", "deleted", -1 },
	{ BOB, "DELETE", "/v1/sessions/s1", NULL, 404, NULL, NULL, NULL, NULL,
	    NULL, NULL, 0 },
};

/* Ann's terminal has this soul now; "": none. */
static void
bound_is(natsSubscription *sub, const char *terminal, const char *how,
    const char *soul)
{
	json_t *j = heard(sub, "binding_changed");

	ck_assert_str_eq(text_at(j, "payload.terminal_id"), terminal);
	ck_assert_str_eq(text_at(j, "payload.user_id"), "ann");
	ck_assert_str_eq(text_at(j, "payload.reason"), how);
	ck_assert_str_eq(text_at(j, "payload.soul_id"), soul);
	json_decref(j);
}

TEST(what_is_done_is_told)
{
	char soul[SOUL_ID], path[128];
	struct recollect r = { 0 };
	natsSubscription *sub;
	struct bed *b = &r.b;
	struct peer p;
	json_t *j;
	size_t i;

	known_start(b);
	recollect_worker(&r);
	peer_start(b, &p);
	sub = heard_listen(b);
	soul_as(b, ANN, "friendly", soul);
	remember(&r, "ann", soul, "m1", "x", 1000);
	remember(&r, "ann", soul, "m2", "x", 1000);
	remember(&r, "ann", soul, "m3", "x", 1000);
	for (i = 0; i < NELEM(deeds); i++)
		ck_deed(b, sub, &deeds[i]);
	minted(b, ACME_PROVISIONER, "lamp2");
	j = heard(sub, "terminal_minted");
	ck_assert_str_eq(tk_text(j, "payload.tenant"), "acme");
	json_decref(j);
	/* What a soul's end takes with it. */
	minted(b, PROVISIONER, "desk");
	json_decref(heard(sub, "terminal_minted"));
	select_as(b, ANN, "desk", soul, NULL);
	bound_is(sub, "desk", "selected", soul);
	remember(&r, "ann", soul, "m4", "x", 1000);
	snprintf(path, sizeof(path), "/v1/souls/%s", soul);
	refused_as(b, BOB, "DELETE", path, NULL, "404 soul not found");
	done_as(b, ANN, "DELETE", path, NULL);
	j = heard(sub, "memories_deleted");
	ck_assert_str_eq(tk_text(j, "payload.soul_id"), soul);
	ck_assert_int_eq(tk_int(j, "payload.count"), 1);
	json_decref(j);
	j = heard(sub, "soul_deleted");
	ck_assert_str_eq(tk_text(j, "payload.soul_id"), soul);
	json_decref(j);
	bound_is(sub, "desk", "soul_deleted", "");
	natsSubscription_Destroy(sub);
	peer_stop(&p);
	recollect_stop(&r);
}

/* Who takes an identity away, or gives it to another, unbinds. */
TEST(what_is_taken_is_told)
{
	char soul[SOUL_ID];
	natsSubscription *sub;
	struct bed b;

	known_start(&b);
	sub = heard_listen(&b);
	soul_as(&b, ANN, "friendly", soul);
	minted(&b, PROVISIONER, "lamp");
	json_decref(heard(sub, "terminal_minted"));
	select_as(&b, ANN, "lamp", soul, NULL);
	bound_is(sub, "lamp", "selected", soul);
	done_as(&b, PROVISIONER, "DELETE", "/v1/terminals/lamp", NULL);
	json_decref(heard(sub, "terminal_revoked"));
	bound_is(sub, "lamp", "revoked", "");
	/* Bound while callers were not known. */
	ck_assert_int_eq(
	    terminal_bind(b.db.s, STR("desk"), STR("ann"), str_of(soul)),
	    RC_OK);
	done_as(&b, PROVISIONER, "POST", "/v1/terminals",
	    "{\"terminal_id\":\"desk\",\"user_id\":\"bob\"}");
	json_decref(heard(sub, "terminal_minted"));
	bound_is(sub, "desk", "minted", "");
	natsSubscription_Destroy(sub);
	bed_stop(&b);
}

/* A soul of very many bodies: not all are told one by one. */
TEST(very_many_are_counted)
{
	char soul[SOUL_ID], path[128], id[16];
	natsSubscription *sub;
	struct bed b;
	json_t *j;
	int i;

	known_start(&b);
	soul_as(&b, ANN, "friendly", soul);
	for (i = 0; i < 100; i++) {
		snprintf(id, sizeof(id), "t%d", i);
		ck_assert_int_eq(
		    terminal_bind(b.db.s, str_of(id), STR("ann"), str_of(soul)),
		    RC_OK);
	}
	sub = heard_listen(&b);
	snprintf(path, sizeof(path), "/v1/souls/%s", soul);
	done_as(&b, ANN, "DELETE", path, NULL);
	json_decref(heard(sub, "soul_deleted"));
	for (i = 0; i < 64; i++) {
		j = heard(sub, "binding_changed");
		ck_assert_str_ne(text_at(j, "payload.terminal_id"), "");
		json_decref(j);
	}
	j = heard(sub, "binding_changed");
	ck_assert_ptr_null(tk_find(j, "payload.terminal_id"));
	ck_assert_int_eq(tk_int(j, "payload.count"), 36);
	json_decref(j);
	natsSubscription_Destroy(sub);
	bed_stop(&b);
}

/* Whoever asks later finds the newest of a body. */
static bool
newest_is_second(void *arg)
{
	struct bed *b = arg;
	char code[TK_CODE];
	json_t *j = tk_nats_ask(b->nc, "$JS.API.STREAM.MSG.GET.SOUL_EVENTS",
	    "{\"last_by_subj\":\"soul.event.audit.~5qGM\"}", code);
	bool is =
	    tk_find(j, "message.seq") != NULL && tk_int(j, "message.seq") == 2;

	json_decref(j);
	return is;
}

/* An event is kept under what it happened to, with the trace of its request. */
TEST(it_is_kept)
{
	natsSubscription *sub;
	struct bed b;
	json_t *j;

	known_start(&b);
	sub = heard_listen(&b);
	minted(&b,
	    PROVISIONER
	    "\r\ntraceparent: "
	    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	    "桌");
	j = heard(sub, "terminal_minted");
	ck_assert_str_eq(
	    tk_text(j, "trace_id"), "0af76519-16cd-43dd-8448-eb211c80319c");
	json_decref(j);
	done_as(&b, PROVISIONER, "DELETE", "/v1/terminals/%E6%A1%8C", NULL);
	json_decref(heard(sub, "terminal_revoked"));
	ck_assert(tk_until(newest_is_second, &b, BED_MS));
	ck_assert(tk_log_has(&b.gateway.proc, "ev=audit"));
	ck_assert(tk_log_has(&b.gateway.proc, "action=terminal_revoked"));
	natsSubscription_Destroy(sub);
	bed_stop(&b);
}

/* The status of a request from another address. */
static void
ask_from(struct bed *b, uint32_t from, const char *token, const char *path,
    int status)
{
	struct tk_answer a = { 0 };
	struct tk_http c;
	char text[512];

	snprintf(text, sizeof(text),
	    "GET %s HTTP/1.1\r\nHost: localhost\r\n%s%s\r\n\r\n", path,
	    token != NULL ? "Authorization: Bearer " : "X: ",
	    token != NULL ? token : "x");
	tk_http_open_from(&c, from, b->gateway.http);
	ck_assert(tk_http_puts(&c, text));
	ck_assert(tk_http_read(&c, &a, BED_MS));
	ck_assert_int_eq(a.status, status);
	tk_answer_free(&a);
	tk_http_close(&c);
}

TEST(who_is_refused_is_told)
{
	natsSubscription *sub;
	struct bed b;
	json_t *j;
	int i;

	known_start(&b);
	sub = heard_listen(&b);
	ask_from(&b, 0x7f000002, NULL, "/v1/souls", 401);
	j = heard(sub, "login_refused");
	ck_assert_str_eq(tk_text(j, "payload.address"), "127.0.0.2");
	ck_assert_str_eq(tk_text(j, "payload.route"), "souls_list");
	ck_assert_uint_gt(strlen(tk_text(j, "payload.reason")), 0);
	ck_assert_int_eq(tk_int(j, "payload.count"), 1);
	ck_assert_ptr_null(tk_find(j, "payload.role"));
	json_decref(j);
	ask_from(&b, 0x7f000003, ACME_ANN, "/v1/souls?user_id=eve", 403);
	j = heard(sub, "access_denied");
	ck_assert_str_eq(tk_text(j, "payload.address"), "127.0.0.3");
	ck_assert_str_eq(tk_text(j, "payload.role"), "owner");
	ck_assert_str_eq(tk_text(j, "payload.tenant"), "acme");
	ck_assert_str_eq(tk_text(j, "payload.caller_id"), "acme/ann");
	json_decref(j);
	ask_from(&b, 0x7f000004, LAMP, "/v1/terminals/lamp", 403);
	j = heard(sub, "access_denied");
	ck_assert_str_eq(tk_text(j, "payload.role"), "terminal");
	ck_assert_str_eq(tk_text(j, "payload.caller_id"), "lamp");
	json_decref(j);
	/* A flood is counted. */
	for (i = 0; i < 50; i++)
		ask_from(&b, 0x7f000005, "t-guess", "/v1/souls", 401);
	json_decref(heard(sub, "login_refused"));
	ck_assert(!tk_log_has(&b.gateway.proc, "t-guess"));
	natsSubscription_Destroy(sub);
	bed_stop(&b);
}
