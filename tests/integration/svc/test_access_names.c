/*
 * Which caller may use which route, and in whose name: a toy that replies for
 * whom it was called.
 */
#include "auth/auth.h"
#include "core/mem.h"
#include "testkit/json.h"
#include "testkit/svc_fixture.h"
#include "testkit/tokens.h"
#include "wire/msgs.h"

/* ---- the toy ---- */

static void *
toy_start(struct svc *s, const void *conf)
{
	(void)conf;
	return s;
}

static const char *
role_name(const struct svc_call *c)
{
	static const char *const names[] = { "owner", "terminal", "provisioner",
		"notifier", "operator" };
	const struct auth_caller *who = svc_call_caller(c);

	return who != NULL ? names[who->role] : "anonymous";
}

static void
respond(struct svc_call *c, struct str user, struct str terminal)
{
	const struct wire_error rep = { .error = arena_printf(svc_call_arena(c),
					    "%s user=%.*s terminal=%.*s.",
					    role_name(c), STR_ARG(user),
					    STR_ARG(terminal)) };

	svc_reply(c, &rep);
}

static void
on_chat(void *app, struct svc_call *c)
{
	const struct wire_chat_request *req = svc_call_request(c);

	(void)app;
	respond(c, req->user_id, req->terminal_id);
}

static void
on_query(void *app, struct svc_call *c)
{
	(void)app;
	respond(c, svc_call_query(c, "user_id"), (struct str){ 0 });
}

static void
on_path(void *app, struct svc_call *c)
{
	(void)app;
	respond(c, svc_call_param(c, 0), (struct str){ 0 });
}

#define ROUTE(n, m, p, f)                                                     \
	{                                                                     \
		.name = n, .method = m, .path = p, .reply = &wire_error_desc, \
		.fn = f, .deadline_ms = 5000                                  \
	}
static const struct svc_route routes[] = {
	{ .name = "chat",
	    .subject = "toy.chat",
	    .method = "POST",
	    .path = "/v1/chat",
	    .request = &wire_chat_request_desc,
	    .reply = &wire_error_desc,
	    .fn = on_chat,
	    .deadline_ms = 5000 },
	ROUTE("souls", "GET", "/v1/souls", on_query),
	ROUTE("profile", "GET", "/v1/users/{user_id}/profile", on_path),
	ROUTE("terminal", "GET", "/v1/terminals/{terminal_id}", on_query),
	ROUTE("unlisted", "GET", "/unlisted", on_query),
};
static const struct svc_def def = {
	.name = "toy",
	.summary = "says who asked",
	.http_addr = "127.0.0.1:1",
	.admin_addr = "127.0.0.1:1",
	.conf_size = 1,
	.routes = routes,
	.nroutes = NELEM(routes),
	.start = toy_start,
};

/* ---- callers ---- */

static const struct tk_token tokens[] = {
	{ "t-ada", "\"role\":\"owner\",\"user\":\"ada\"" },
	{ "t-acme-ada",
	    "\"role\":\"owner\",\"user\":\"ada\",\"tenant\":\"acme\"" },
	{ "t-lamp", "\"role\":\"terminal\",\"terminal_id\":\"lamp-1\"" },
	{ "t-provisioner", "\"role\":\"provisioner\",\"tenant\":\"acme\"" },
	{ "t-maker", "\"role\":\"maker\",\"tenant\":\"acme\"" },
	{ "t-acme", "\"role\":\"operator\",\"tenant\":\"acme\"" },
	{ "t-root", "\"role\":\"operator\"" },
	{ "t-old",
	    "\"role\":\"operator\",\"expires_at\":\"2020-01-01T00:00:00Z\"" },
};

static void
start(struct svc_fixture *r, const char *file)
{
	char tokens_file[300], rate[] = "RATE_TOKEN_BURST=1000";

	tk_tokens_write(file, tokens, NELEM(tokens));
	snprintf(tokens_file, sizeof(tokens_file), "AUTH_TOKENS=%s", file);
	svc_fixture_begin(r, &def, TK_ENV(tokens_file, rate));
	tk_service_wait(&r->toy);
}

#define CHAT(user, terminal)                                             \
	"{\"session_id\":\"s\"" user ",\"terminal_id\":\"" terminal "\"" \
	",\"inputs\":[{\"type\":\"keyboard_text\",\"text\":\"hi\"}]}"
#define USER(u) ",\"user_id\":\"" u "\""

static const struct svc_fixture_request requests[] = {
	/* Without a token, or with an unknown one. */
	{ NULL, "GET", "/v1/souls", NULL, 401, "an access token is needed" },
	{ "t-unknown", "GET", "/v1/souls", NULL, 401, "not known" },
	{ "t-old", "GET", "/v1/souls", NULL, 401, "expired" },
	{ "t ada", "GET", "/v1/souls", NULL, 401, "one header" },
	{ "t-ada\r\nAuthorization: Bearer t-ada", "GET", "/v1/souls", NULL, 401,
	    "one header" },
	{ "t-ada", "GET", "/v1/souls?access_token=t-ada", NULL, 401,
	    "not in the address" },
	/* An owner acts for itself. */
	{ "t-ada", "GET", "/v1/souls", NULL, 200, "owner user=ada t" },
	{ "t-ada", "GET", "/v1/souls?user_id=ada", NULL, 200, "user=ada t" },
	{ "t-ada", "GET", "/v1/souls?user_id=bob", NULL, 403,
	    "user_id: is not the user of the token" },
	{ "t-ada", "GET", "/v1/souls?user_id=", NULL, 400, "user_id: must be" },
	{ "t-ada", "GET", "/v1/users/ada/profile", NULL, 200, "user=ada t" },
	{ "t-ada", "GET", "/v1/users/bob/profile", NULL, 403, "user_id: is" },
	{ "t-ada", "POST", "/v1/chat", CHAT("", "x"), 200, "user=ada t" },
	{ "t-ada", "POST", "/v1/chat", CHAT(USER("ada"), "x"), 200,
	    "user=ada terminal=x." },
	{ "t-ada", "POST", "/v1/chat", CHAT(USER("acme/ada"), "x"), 403,
	    "/user_id: is not the user of the token" },
	{ "t-ada", "GET", "/unlisted", NULL, 403, "role" },
	/* With a tenant it is another user than without. */
	{ "t-acme-ada", "GET", "/v1/souls", NULL, 200, "user=acme/ada t" },
	{ "t-acme-ada", "GET", "/v1/souls?user_id=ada", NULL, 200,
	    "user=acme/ada t" },
	{ "t-acme-ada", "GET", "/v1/souls?user_id=acme/ada", NULL, 200,
	    "user=acme/ada t" },
	{ "t-acme-ada", "GET", "/v1/souls?user_id=other/ada", NULL, 403,
	    "another tenant" },
	{ "t-acme-ada", "GET", "/v1/users/acme%2Fada/profile", NULL, 200,
	    "user=acme/ada t" },
	{ "t-acme-ada", "POST", "/v1/chat", CHAT(USER("ada"), "x"), 200,
	    "user=acme/ada terminal=x." },
	/* A terminal acts for itself, and chats. */
	{ "t-lamp", "POST", "/v1/chat", CHAT("", "lamp-1"), 200,
	    "terminal user= terminal=lamp-1." },
	{ "t-lamp", "POST", "/v1/chat", CHAT("", "lamp-2"), 403,
	    "/terminal_id: is not the terminal" },
	{ "t-lamp", "POST", "/v1/chat", CHAT(USER("ada"), "lamp-1"), 403,
	    "/user_id: must not be there" },
	{ "t-lamp", "GET", "/v1/souls", NULL, 403, "role" },
	/* A provisioner sees terminals, may name their users, and is no user.
	 */
	{ "t-provisioner", "GET", "/v1/terminals/lamp-1", NULL, 200,
	    "provisioner user= t" },
	/* A token of 0.1, whose role was called maker. */
	{ "t-maker", "GET", "/v1/terminals/lamp-1", NULL, 200,
	    "provisioner user= t" },
	{ "t-maker", "GET", "/v1/souls", NULL, 403, "role" },
	{ "t-provisioner", "GET", "/v1/terminals/lamp-1?user_id=ada", NULL, 200,
	    "user=acme/ada t" },
	{ "t-provisioner", "GET", "/v1/terminals/lamp-1?user_id=other/ada",
	    NULL, 403, "another tenant" },
	{ "t-provisioner", "GET", "/v1/souls", NULL, 403, "role" },
	/* An operator acts for the user it names, of its tenant if it has one.
	 */
	{ "t-acme", "GET", "/v1/souls?user_id=bob", NULL, 200,
	    "operator user=acme/bob t" },
	{ "t-acme", "GET", "/v1/souls?user_id=other/bob", NULL, 403,
	    "another tenant" },
	{ "t-acme", "GET", "/v1/souls", NULL, 200, "user= t" },
	{ "t-root", "GET", "/v1/souls?user_id=acme/bob", NULL, 200,
	    "user=acme/bob t" },
	{ "t-root", "GET", "/unlisted", NULL, 200, "operator" },
	/* Invalid JSON is reported only to permitted callers. */
	{ "t-provisioner", "POST", "/v1/chat", "{", 403, "role" },
	{ "t-ada", "POST", "/v1/chat", "{", 400, "" },
};

TEST(each_caller_may_use_its_own)
{
	struct svc_fixture r;
	size_t i;

	start(&r, tk_path("tokens.json"));
	for (i = 0; i < NELEM(requests); i++)
		svc_fixture_request(&r, &requests[i]);
	ck_assert(!tk_log_has(&r.toy.proc, "t-unknown"));
	ck_assert(!tk_log_has(&r.toy.proc, "t-ada"));
	ck_assert(tk_log_has(&r.toy.proc, "ev=auth.role_deprecated "));
	svc_fixture_stop(&r);
}
