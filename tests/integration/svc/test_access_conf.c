/*
 * A service starts only if its configuration has authentication or needs none;
 * --check-config agrees.  And the command that edits token files.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "auth/auth.h"
#include "core/mem.h"
#include "testkit/json.h"
#include "testkit/svc_fixture.h"
#include "testkit/tokens.h"
#include "wire/msgs.h"

static void *
toy_start(struct svc *s, const void *conf)
{
	(void)conf;
	return s;
}

static void
on_request(void *app, struct svc_call *c)
{
	static const struct wire_error rep = { .error = STR_INIT("fine") };

	(void)app;
	svc_reply(c, &rep);
}

static const struct svc_route routes[] = {
	{ .name = "souls",
	    .method = "GET",
	    .path = "/v1/souls",
	    .reply = &wire_error_desc,
	    .fn = on_request,
	    .deadline_ms = 5000 },
};
static const struct svc_def def = {
	.name = "toy",
	.summary = "lets some in",
	.http_addr = "127.0.0.1:1",
	.admin_addr = "127.0.0.1:0",
	.no_bus = true,
	.conf_size = 1,
	.routes = routes,
	.nroutes = NELEM(routes),
	.start = toy_start,
};
/* It has no reachable port. */
static const struct svc_def deaf = {
	.name = "toy",
	.summary = "hears nothing",
	.http_addr = "",
	.admin_addr = "127.0.0.1:0",
	.no_bus = true,
	.conf_size = 1,
	.start = toy_start,
};

struct line {
	const struct svc_def *def;
	const char *const *args;
	const char *const *env;
};

static int
line_main(void *arg)
{
	const struct line *l = arg;
	char *argv[12] = { (char[]){ "toy" } };
	int argc = 1;
	size_t i;

	for (i = 0; l->env[i] != NULL; i++)
		putenv((char *)(uintptr_t)l->env[i]);
	for (; l->args[argc - 1] != NULL; argc++)
		argv[argc] = (char *)(uintptr_t)l->args[argc - 1];
	return svc_main(l->def, argc, argv);
}

/* "toy <args>" in that environment; p has its output. */
static void
begin(struct tk_proc *p, const struct svc_def *d, const char *const env[],
    const char *const args[])
{
	static int nth;
	struct line l = { d, args, env };
	char name[32];

	snprintf(name, sizeof(name), "toy-%d", nth++);
	tk_fork(p, name, line_main, &l);
}

static int
done(struct tk_proc *p, const char *const env[], const char *const args[])
{
	begin(p, &def, env, args);
	return tk_wait(p, SVC_FIXTURE_MS);
}

#define CHECK ((const char *const[]){ "--check-config", NULL })
#define RUN   ((const char *const[]){ NULL })
#define WIDE  "HTTP_ADDR=0.0.0.0:0"

/* Check that it neither starts nor accepts the configuration, and prints why.
 */
static void
refuses(const char *const env[], const char *why)
{
	struct tk_proc p;

	ck_assert_int_eq(done(&p, env, CHECK), 78);
	ck_assert_msg(tk_log_has(&p, why), "--check-config: %s", why);
	ck_assert_int_eq(done(&p, env, RUN), 78);
	ck_assert_msg(tk_log_has(&p, why), "%s", why);
}

static void
takes(const char *const env[])
{
	struct tk_proc p;

	ck_assert_int_eq(done(&p, env, CHECK), 0);
}

static const struct tk_token one[] = { { "t-one", "\"role\":\"operator\"" } };

TEST(a_reachable_address_needs_authentication)
{
	const char *path = tk_path("tokens.json");
	char file[300], none[300];

	tk_tokens_write(path, one, NELEM(one));
	snprintf(file, sizeof(file), "AUTH_TOKENS=%s", path);
	snprintf(none, sizeof(none), "AUTH_JWKS=%s", tk_path("none"));
	refuses(TK_ENV(WIDE), "HTTP_ADDR=0.0.0.0:0 can be reached");
	refuses(TK_ENV("HTTP_ADDR=10.0.0.1:9010"), "set AUTH_TOKENS");
	refuses(TK_ENV("AUTH=on"), "AUTH: use off");
	refuses(TK_ENV("AUTH=off", file), "AUTH=off contradicts");
	refuses(TK_ENV(none), "AUTH_JWKS: ");
	refuses(TK_ENV(none), "No such file");
	refuses(TK_ENV(file, "AUTH_ISSUER=https://id"), "set AUTH_JWKS, too");
	refuses(TK_ENV("AUTH_AUDIENCE=soul"), "set AUTH_JWKS, too");
	takes(TK_ENV("HTTP_ADDR=127.0.0.1:0"));
	takes(TK_ENV("HTTP_ADDR=127.1.2.3:0"));
	takes(TK_ENV(WIDE, file));
	takes(TK_ENV(WIDE, "AUTH=off"));
	tk_write_file(path, "{\"tokens\":[{\"role\":\"owner\"}]}");
	refuses(TK_ENV(file), "/tokens/0/sha256: is missing");
}

TEST(a_service_without_http_needs_no_authentication)
{
	struct tk_proc p;

	begin(&p, &deaf, TK_ENV(WIDE), CHECK);
	ck_assert_int_eq(tk_wait(&p, SVC_FIXTURE_MS), 0);
	begin(&p, &deaf, TK_ENV(WIDE), TK_ENV("--help"));
	ck_assert_int_eq(tk_wait(&p, SVC_FIXTURE_MS), 0);
	ck_assert(!tk_log_has(&p, "AUTH_TOKENS"));
	ck_assert(!tk_log_has(&p, "toy token"));
}

struct waiting {
	struct tk_proc *p;
	const char *text;
};

static bool
has_output(void *arg)
{
	const struct waiting *w = arg;

	return tk_log_has(w->p, w->text);
}

TEST(auth_off_is_off_and_logged)
{
	struct tk_response a = { 0 };
	struct tk_proc p;
	struct waiting started = { &p, "ev=svc.started" };
	char addr[64];
	int port = tk_port();

	snprintf(addr, sizeof(addr), "HTTP_ADDR=0.0.0.0:%d", port);
	begin(&p, &def, TK_ENV(addr, "AUTH=off", "HTTP_WORKERS=24"), RUN);
	ck_assert(tk_until(has_output, &started, SVC_FIXTURE_MS));
	ck_assert(tk_log_has(&p, "lvl=warn svc=toy ev=auth.off"));
	ck_assert_int_eq(
	    tk_http_request(port, &a, "GET", "/v1/souls", NULL), 200);
	tk_signal(&p, SIGTERM);
	ck_assert_int_eq(tk_wait(&p, SVC_FIXTURE_MS), 0);
	tk_response_free(&a);
}

static int
request_with_host(int port, const char *host)
{
	struct tk_response a = { 0 };
	int status = tk_http_call(port, &a,
	    "GET /v1/souls HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
	    host);

	if (status == 403)
		ck_assert(tk_response_has(&a, "or AUTH=off"));
	tk_response_free(&a);
	return status;
}

/* A page's name that resolves to this machine is not local. */
TEST(without_authentication_the_host_must_be_local)
{
	static const char *const off[] = { "AUTH=", "AUTH=off" };
	char addr[64];

	for (int i = 0; i < 2; i++) {
		int port = tk_port();
		struct tk_proc p;
		struct waiting started = { &p, "ev=svc.started" };

		snprintf(addr, sizeof(addr), "HTTP_ADDR=127.0.0.1:%d", port);
		begin(&p, &def, TK_ENV(addr, off[i], "HTTP_WORKERS=24"), RUN);
		ck_assert(tk_until(has_output, &started, SVC_FIXTURE_MS));
		ck_assert_int_eq(
		    request_with_host(port, "localhost:9010"), 200);
		ck_assert_int_eq(request_with_host(port, "127.0.0.1"), 200);
		ck_assert_int_eq(request_with_host(port, "evil.example"),
		    i == 0 ? 403 : 200);
		ck_assert(
		    tk_log_has(&p, "ev=svc.foreign_host host=evil.example") ==
		    (i == 0));
		tk_signal(&p, SIGTERM);
		ck_assert_int_eq(tk_wait(&p, SVC_FIXTURE_MS), 0);
	}
}

/* ---- the command ---- */

#define NO_ENV ((const char *const[]){ NULL })

/* The line of p's output that begins with prefix; dst is "" without one. */
static void
line_of(const struct tk_proc *p, const char *prefix, char *dst, size_t n)
{
	char *log = tk_read_file(p->log, NULL);
	const char *at = strstr(log, prefix);

	dst[0] = '\0';
	if (at != NULL)
		snprintf(dst, n, "%.*s", (int)strcspn(at, "\n"), at);
	free(log);
}

TEST(the_token_command_edits_the_file)
{
	const char *path = tk_path("tokens.json");
	char token[128], file[300];
	struct tk_response a = { 0 };
	struct svc_fixture r = { 0 };
	struct tk_proc p;

	/* It needs no valid configuration of the service. */
	ck_assert_int_eq(
	    done(&p, TK_ENV(WIDE),
		TK_ENV("token", "add", path, "operator", "name=ops", "days=2")),
	    0);
	line_of(&p, "soul_", token, sizeof(token));
	ck_assert_uint_eq(strlen(token), 37);
	ck_assert_int_eq(done(&p, NO_ENV, TK_ENV("token", "list", path)), 0);
	ck_assert(tk_log_has(&p, "operator"));
	ck_assert(tk_log_has(&p, "# ops"));
	snprintf(file, sizeof(file), "AUTH_TOKENS=%s", path);
	svc_fixture_fork(&r, &def, "nats://127.0.0.1:1", TK_ENV(file));
	tk_service_wait(&r.toy);
	svc_fixture_request(&r,
	    &(struct svc_fixture_request){
		token, "GET", "/v1/souls", NULL, 200, "fine" });
	svc_fixture_stop(&r);
	ck_assert_int_eq(
	    done(&p, NO_ENV, TK_ENV("token", "drop", path, "ops")), 0);
	ck_assert(tk_log_has(&p, "dropped "));
	ck_assert_int_eq(
	    done(&p, NO_ENV, TK_ENV("token", "drop", path, "ops")), 1);
	ck_assert(tk_log_has(&p, "has no token of that name"));
	tk_response_free(&a);
}

TEST(the_token_command_accepts_the_deprecated_role)
{
	const char *path = tk_path("tokens.json");
	struct tk_proc p;

	ck_assert_int_eq(
	    done(&p, NO_ENV, TK_ENV("token", "add", path, "maker")), 0);
	ck_assert_int_eq(done(&p, NO_ENV, TK_ENV("token", "list", path)), 0);
	ck_assert(tk_log_has(&p, "  provisioner  ends never"));
}

TEST(the_token_command_prints_its_usage)
{
	static const char *const wrong[][7] = {
		{ "token", NULL },
		{ "token", "grow", NULL },
		{ "token", "add", "f", NULL },
		{ "token", "add", "f", "king", NULL },
		{ "token", "add", "f", "operator", "days=0", NULL },
		{ "token", "add", "f", "operator", "days=soon", NULL },
		{ "token", "add", "f", "operator", "usr=x", NULL },
		{ "token", "add", "f", "operator", "name=", NULL },
		{ "token", "list", NULL },
		{ "token", "drop", "f", NULL },
	};
	struct tk_proc p;
	size_t i;

	for (i = 0; i < NELEM(wrong); i++) {
		ck_assert_int_eq(done(&p, NO_ENV, wrong[i]), 64);
		ck_assert(tk_log_has(&p, "token --help"));
	}
	ck_assert_int_eq(done(&p, NO_ENV, TK_ENV("token", "--help")), 0);
	ck_assert(tk_log_has(&p, "usage: toy token add FILE ROLE"));
	ck_assert_int_eq(
	    done(&p, NO_ENV, TK_ENV("token", "add", tk_path("f"), "owner")), 1);
	ck_assert(tk_log_has(&p, "/f: user: is missing"));
	ck_assert_int_ne(access(tk_path("f"), F_OK), 0);
}
