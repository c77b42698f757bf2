/*
 * Commands of a service: healthcheck and those of its own table.  Each runs in
 * a forked process.
 */
#include <arpa/inet.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bus/bus.h"
#include "core/mem.h"
#include "testkit/svc_fixture.h"
#include "wire/msgs.h"

/* ---- the toy: ready from the second request on ---- */

struct toy_conf {
	int64_t number;
};

struct toy {
	_Atomic bool up;
};

static bool
is_up(void *arg)
{
	struct toy *t = arg;

	return atomic_load(&t->up);
}

static void *
toy_start(struct svc *s, const void *conf)
{
	struct toy *t = mem_zalloc(sizeof(*t));

	(void)conf;
	svc_require(s, "the peer", is_up, t);
	svc_require(s, "the other\tpeer", is_up, t);
	return t;
}

static void
on_call(void *arg, struct svc_call *c)
{
	struct toy *t = arg;

	atomic_store(&t->up, true);
	svc_reply(c, svc_call_request(c));
}

static int
print(const struct svc_run *r)
{
	const struct toy_conf *c = r->conf;

	printf("number %lld, %d words, the last %s, at %s\n",
	    (long long)c->number, r->argc, r->argv[r->argc - 1], r->bus->url);
	return 7;
}

static int
alone(const struct svc_run *r)
{
	char text[32];

	snprintf(text, sizeof(text), "alone %d\n",
	    r->conf == NULL && r->bus == NULL ? r->argc : -1);
	if (svc_out(str_of(text)) != RC_OK)
		fprintf(stderr, "not listening\n");
	return 0;
}

static const struct svc_command commands[] = {
	{ .name = "say",
	    .usage = "WORD...\n--all",
	    .summary = "say what it was given",
	    .help = "More of it.\n",
	    .fn = print },
	{ .name = "alone",
	    .usage = "",
	    .summary = "needs nothing",
	    .alone = true,
	    .fn = alone },
};
static const struct conf_opt opts[] = {
	{ "TOY_NUMBER", CONF_INT, CONF_AT(toy_conf, number), "5", 1, 9, "" },
};
static const struct svc_route routes[] = {
	{ .name = "call",
	    .method = "POST",
	    .path = "/call",
	    .request = &wire_error_desc,
	    .reply = &wire_error_desc,
	    .fn = on_call,
	    .deadline_ms = 5000 },
};
static const struct svc_def def = {
	.name = "toy",
	.summary = "does what the request says",
	.http_addr = "127.0.0.1:1",
	.admin_addr = "127.0.0.1:1",
	.opts = opts,
	.nopts = NELEM(opts),
	.conf_size = sizeof(struct toy_conf),
	.routes = routes,
	.nroutes = NELEM(routes),
	.commands = commands,
	.ncommands = NELEM(commands),
	.start = toy_start,
	.stop = free,
};

/* ---- running a command ---- */

struct line {
	const char *const *args;
	const char *env; /* NULL: none */
};

static int
line_main(void *arg)
{
	const struct line *l = arg;
	char *argv[8] = { (char[]){ "toy" } };
	int argc = 1;

	if (l->env != NULL)
		putenv((char *)(uintptr_t)l->env);
	for (; l->args[argc - 1] != NULL; argc++)
		argv[argc] = (char *)(uintptr_t)l->args[argc - 1];
	return svc_main(&def, argc, argv);
}

/* The exit code of "toy <args>"; p has its output. */
static int
done(struct tk_proc *p, const char *env, const char *const args[])
{
	static int nth;
	struct line l = { args, env };
	char name[32];

	/* A log of its own. */
	snprintf(name, sizeof(name), "command-%d", nth++);
	tk_fork(p, name, line_main, &l);
	return tk_wait(p, SVC_FIXTURE_MS);
}

/* healthcheck of the service on port. */
static int
health(struct tk_proc *p, const char *host, int port)
{
	char env[64];

	snprintf(env, sizeof(env), "ADMIN_ADDR=%s:%d", host, port);
	return done(p, env, TK_ENV("healthcheck"));
}

struct expected {
	const struct svc_fixture *r;
	const char *text;
};

static bool
is_unready(void *arg)
{
	const struct expected *e = arg;
	struct tk_proc p;

	return health(&p, "127.0.0.1", e->r->toy.admin) == 1 &&
	    tk_log_has(&p, e->text);
}

/* ---- healthcheck ---- */

TEST(healthcheck_is_zero_only_when_ready)
{
	struct svc_fixture r;
	struct expected two = { &r,
		"not ready: the peer is not reachable; the other?peer is not "
		"reachable\n" };
	struct expected nats = { &r, "not ready: NATS is not reachable" };
	struct tk_response a = { 0 };
	struct tk_proc p;

	svc_fixture_begin(&r, &def, NULL);
	ck_assert(tk_until(is_unready, &two, SVC_FIXTURE_MS));
	ck_assert_int_eq(svc_fixture_call(&r, &a, "/call", "up"), 200);
	tk_service_wait(&r.toy);
	ck_assert_int_eq(health(&p, "127.0.0.1", r.toy.admin), 0);
	ck_assert(tk_log_has(&p, "ready\n"));
	ck_assert(!tk_log_has(&p, "not ready"));
	/* A service on all addresses is probed on loopback. */
	ck_assert_int_eq(health(&p, "0.0.0.0", r.toy.admin), 0);
	ck_assert_int_eq(health(&p, "", r.toy.admin), 0);
	/* Another server's port is not a service's. */
	ck_assert_int_eq(health(&p, "127.0.0.1", r.toy.http), 1);
	ck_assert(tk_log_has(&p, "no such path"));
	ck_assert_int_eq(health(&p, "127.0.0.1", r.nats.port), 1);
	ck_assert(tk_log_has(&p, "not a service's response"));
	tk_server_stop(&r.nats, SIGKILL);
	ck_assert(tk_until(is_unready, &nats, SVC_FIXTURE_MS));
	tk_response_free(&a);
	svc_fixture_stop(&r);
}

TEST(healthcheck_without_a_service)
{
	struct tk_proc p;

	ck_assert_int_eq(health(&p, "127.0.0.1", tk_port()), 1);
	ck_assert(tk_log_has(&p, "Connection refused"));
	ck_assert_int_eq(health(&p, "127.0.0.1", 0), 78);
	ck_assert(tk_log_has(&p, "is not a.b.c.d:port"));
	ck_assert_int_eq(health(&p, "localhost", 80), 78);
	ck_assert_int_eq(done(&p, NULL, TK_ENV("healthcheck", "now")), 64);
	ck_assert(tk_log_has(&p, "takes no arguments"));
	ck_assert_int_eq(done(&p, "TOY_NUMBER=ten", TK_ENV("healthcheck")), 78);
	ck_assert(tk_log_has(&p, "TOY_NUMBER"));
}

/* A server of raw bytes that sends text endlessly, or nothing. */
struct peer {
	int fd, port;
	const char *text; /* NULL: it does not even accept */
};

static void
peer_open(struct peer *s, const char *text)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);

	s->text = text;
	s->fd = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(s->fd, (void *)&a, n), 0);
	ck_assert_int_eq(listen(s->fd, 8), 0);
	ck_assert_int_eq(getsockname(s->fd, (void *)&a, &n), 0);
	s->port = ntohs(a.sin_port);
}

static int
peer_main(void *arg)
{
	const struct peer *s = arg;
	int fd = accept(s->fd, NULL, NULL);

	signal(SIGPIPE, SIG_IGN);
	while (send(fd, s->text, strlen(s->text), 0) > 0)
		;
	return 0;
}

TEST(healthcheck_ends_with_any_peer)
{
	static const char *const texts[] = { "HTTP/1.1 200\r\nX: y\r\n",
		"HTTP/1.1 200x OK\r\n\r\n", "no", "\r\n\r\n" };
	struct tk_proc p, server;
	struct peer s;
	struct mono before;
	size_t i;

	for (i = 0; i < NELEM(texts); i++) {
		peer_open(&s, texts[i]);
		tk_fork(&server, "peer", peer_main, &s);
		ck_assert_int_eq(health(&p, "127.0.0.1", s.port), 1);
		ck_assert(tk_log_has(&p, "not a service's response"));
		ck_assert_int_eq(tk_wait(&server, SVC_FIXTURE_MS), 0);
		close(s.fd);
	}
	peer_open(&s, NULL);
	before = clock_mono();
	ck_assert_int_eq(health(&p, "127.0.0.1", s.port), 1);
	ck_assert_int_ge(mono_diff_ms(clock_mono(), before), 1900);
	ck_assert(tk_log_has(&p, "timed out"));
	close(s.fd);
}

/* ---- the table ---- */

TEST(a_command_gets_its_arguments_and_the_configuration)
{
	struct tk_proc p;

	ck_assert_int_eq(done(&p, "TOY_NUMBER=8", TK_ENV("say", "a", "b")), 7);
	ck_assert(tk_log_has(
	    &p, "number 8, 3 words, the last b, at nats://127.0.0.1:4222\n"));
	ck_assert_int_eq(done(&p, "TOY_NUMBER=10", TK_ENV("say", "a")), 78);
	ck_assert(tk_log_has(&p, "TOY_NUMBER"));
	/* One with its own configuration does not need ours. */
	ck_assert_int_eq(
	    done(&p, "TOY_NUMBER=10", TK_ENV("alone", "--help")), 0);
	ck_assert(tk_log_has(&p, "alone 2\n"));
}

TEST(help_has_all_commands_and_a_wrong_one_is_an_error)
{
	struct tk_proc p;

	ck_assert_int_eq(done(&p, NULL, TK_ENV("--help")), 0);
	ck_assert(tk_log_has(&p,
	    "usage: toy [option]\n       toy healthcheck\n"
	    "       toy token add FILE ROLE [user=U] [tenant=T] "
	    "[terminal_id=ID] [name=N] [days=N]\n"
	    "       toy token list FILE\n"
	    "       toy token drop FILE NAME|DIGEST\n"
	    "       toy say WORD...\n       toy say --all\n"
	    "       toy alone\n"));
	ck_assert(tk_log_has(&p, "  say             say what it was given\n"));
	ck_assert(tk_log_has(&p, "  healthcheck     check "));
	ck_assert_int_eq(
	    done(&p, "TOY_NUMBER=no", TK_ENV("say", "x", "--help")), 0);
	ck_assert(tk_log_has(&p,
	    "toy say - say what it was given\n\nusage: toy say WORD...\n"
	    "       toy say --all\n\nMore of it.\n"));
	ck_assert_int_eq(done(&p, NULL, TK_ENV("sya", "x")), 64);
	ck_assert(tk_log_has(&p,
	    "unknown command sya; commands: healthcheck, token, say, alone; "
	    "see toy --help\n"));
	ck_assert_int_eq(done(&p, NULL, TK_ENV("--say")), 64);
	ck_assert(tk_log_has(&p, "unknown argument --say; see toy --help\n"));
	ck_assert_int_eq(done(&p, NULL, TK_ENV("--version", "x")), 64);
}

static int
full_main(void *arg)
{
	(void)arg;
	ck_assert_ptr_nonnull(freopen("/dev/full", "w", stdout));
	return line_main(&(struct line){ TK_ENV("alone"), NULL });
}

TEST(output_that_cannot_be_written_is_a_failure)
{
	struct tk_proc p;

	tk_fork(&p, "full", full_main, NULL);
	ck_assert_int_eq(tk_wait(&p, SVC_FIXTURE_MS), 1);
	ck_assert(tk_log_has(&p, "not listening\n"));
	ck_assert(tk_log_has(&p, "toy alone: cannot write\n"));
}
