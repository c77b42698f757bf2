/* The broker's password file follows the identities of bodies. */
#include <netinet/in.h>
#include <sys/socket.h>

#include "body.h"
#include "broker.h"
#include "state/terminal.h"

/* As long as the file may take to follow, and the broker to hear of it. */
#define SOON_MS 5000
#define MANY    2500

struct scene {
	struct broker k;
	struct bed b;
	struct tk_proc keeper;
	int starts;
};

static void
keep(struct scene *s, const char *how, const char *what)
{
	char env[128], name[24];
	const char *const e[] = { env, NULL };
	const char *const v[] = { tk_bin("mqtt-bridge"), "passwords", "--file",
		s->k.users, how, what, "--also", tk_path("also"), NULL };

	snprintf(env, sizeof(env), "REDIS_URL=%s", s->b.redis.url);
	snprintf(name, sizeof(name), "passwords-%d", s->starts++);
	tk_spawn(&s->keeper, name, v, e);
}

static void
open_scene(struct scene *s, const char *how, const char *what)
{
	struct buf also = BUF_INIT(1024);

	memset(s, 0, sizeof(*s));
	broker_make(&s->k, 0);
	broker_start(&s->k);
	broker_bed(&s->k, &s->b);
	broker_user(&also, "health");
	tk_write_file(tk_path("also"), also.p);
	buf_free(&also);
	keep(s, how, what);
}

static void
close_scene(struct scene *s)
{
	tk_signal(&s->keeper, SIGTERM);
	ck_assert_int_eq(tk_wait(&s->keeper, BED_MS), 0);
	broker_end(&s->k);
	bed_stop(&s->b);
}

static void
mint(struct scene *s, const char *id, const char *secret)
{
	char hash[AUTH_HASH_MAX];
	struct credential c = { .terminal_id = str_of(id),
		.created = clock_wall() };

	if (secret != NULL) {
		auth_secret_hash(str_of(secret), hash);
		c.hash = str_of(hash);
	}
	ck_assert_int_eq(credential_mint(s->b.db.s, &c, NULL, NULL), RC_OK);
}

/* A plain client's connection: what the broker answered, -1 while it has not,
 * and whether it stands. */
struct login {
	struct mosquitto *mosq;
	_Atomic int answer, down;
};

static void
on_login(struct mosquitto *mosq, void *arg, int rc)
{
	struct login *l = arg;

	(void)mosq;
	atomic_store(&l->answer, rc);
}

static void
on_logout(struct mosquitto *mosq, void *arg, int rc)
{
	struct login *l = arg;

	(void)mosq;
	(void)rc;
	atomic_fetch_add(&l->down, 1);
}

static bool
is_answered(void *arg)
{
	return atomic_load(&((struct login *)arg)->answer) != -1;
}

static bool
is_down(void *arg)
{
	return atomic_load(&((struct login *)arg)->down) > 0;
}

static int
login(struct login *l, int port, const char *user, const char *pw)
{
	atomic_init(&l->answer, -1);
	atomic_init(&l->down, 0);
	mosquitto_lib_init();
	l->mosq = mosquitto_new(NULL, true, l);
	mosquitto_username_pw_set(l->mosq, user, pw);
	mosquitto_connect_callback_set(l->mosq, on_login);
	mosquitto_disconnect_callback_set(l->mosq, on_logout);
	mosquitto_reconnect_delay_set(l->mosq, 60, 60, false);
	ck_assert_int_eq(mosquitto_connect(l->mosq, "127.0.0.1", port, 60), 0);
	ck_assert_int_eq(mosquitto_loop_start(l->mosq), 0);
	ck_assert(tk_until(is_answered, l, BED_MS));
	return atomic_load(&l->answer);
}

static void
logout(struct login *l)
{
	mosquitto_disconnect(l->mosq);
	mosquitto_loop_stop(l->mosq, true);
	mosquitto_destroy(l->mosq);
	mosquitto_lib_cleanup();
}

struct
try {
	int port;
	const char *user, *pw;
};

static bool
gets_in(void *arg)
{
	const struct try *t = arg;
	struct login l;
	int rc = login(&l, t->port, t->user, t->pw);

	logout(&l);
	return rc == 0;
}

static bool
is_refused(void *arg)
{
	return !gets_in(arg);
}

TEST_T(made_changed_and_revoked, 60)
{
	struct scene s;
	struct login l;
	char hash[AUTH_HASH_MAX];
	struct stat st;
	struct mono at;

	open_scene(&s, "--pid-file", tk_path("mosquitto.pid"));
	struct try t1 = { s.k.bodies, "t1", "one" };
	struct try two = { s.k.bodies, "t1", "two" };
	mint(&s, "t1", "one");
	at = clock_mono();
	ck_assert(tk_until(gets_in, &t1, SOON_MS));
	printf("# a new identity gets in after %lld ms\n",
	    (long long)mono_diff_ms(clock_mono(), at));
	ck_assert_int_eq(stat(s.k.users, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	ck_assert(!gets_in(&two));

	/* Another password ends the session of the one before. */
	ck_assert_int_eq(login(&l, s.k.bodies, "t1", "one"), 0);
	auth_secret_hash(STR("two"), hash);
	ck_assert_int_eq(
	    credential_rotate(s.b.db.s, STR("t1"), str_of(hash)), RC_OK);
	at = clock_mono();
	ck_assert(tk_until(is_down, &l, SOON_MS));
	printf("# a rotated one is out after %lld ms\n",
	    (long long)mono_diff_ms(clock_mono(), at));
	logout(&l);
	ck_assert(tk_until(gets_in, &two, SOON_MS));
	ck_assert(!gets_in(&t1));

	ck_assert_int_eq(login(&l, s.k.bodies, "t1", "two"), 0);
	ck_assert_int_eq(
	    credential_revoke(s.b.db.s, STR("t1"), NULL, NULL), RC_OK);
	at = clock_mono();
	ck_assert(tk_until(is_down, &l, SOON_MS));
	printf("# a revoked one is out after %lld ms\n",
	    (long long)mono_diff_ms(clock_mono(), at));
	logout(&l);
	ck_assert(!gets_in(&two));
	close_scene(&s);
}

/* What would break a line, or make a body a service, is not written. */
TEST_T(ids_that_are_no_names, 60)
{
	struct scene s;
	size_t n;
	char *text;

	open_scene(&s, "--pid-file", tk_path("mosquitto.pid"));
	struct try good = { s.k.bodies, "zz 桌", "one" };
	mint(&s, "a:b", "one");
	mint(&s, "health", "one");
	mint(&s, "has-a-certificate", NULL);
	mint(&s, " blank", "one");
	mint(&s, "zz 桌", "one");
	ck_assert(tk_until(gets_in, &good, SOON_MS));
	text = tk_read_file(s.k.users, &n);
	ck_assert_ptr_null(strstr(text, "a:b"));
	ck_assert_ptr_null(strstr(text, "certificate"));
	ck_assert_ptr_null(strstr(text, "blank"));
	ck_assert_ptr_eq(strstr(text, "health:"), text);
	ck_assert_ptr_null(strstr(text + 1, "health:"));
	free(text);
	close_scene(&s);
}

/* The file stays, and what was changed meanwhile is caught up on. */
TEST_T(redis_is_away, 60)
{
	struct scene s;

	open_scene(&s, "--pid-file", tk_path("mosquitto.pid"));
	struct try t1 = { s.k.bodies, "t1", "one" };
	struct try t2 = { s.k.bodies, "t2", "one" };
	mint(&s, "t1", "one");
	ck_assert(tk_until(gets_in, &t1, SOON_MS));
	tk_server_stop(&s.b.redis, SIGKILL);
	tk_signal(&s.k.proc, SIGHUP);
	ck_assert(gets_in(&t1));
	tk_server_restart(&s.b.redis);
	tk_state_wait(&s.b.db);
	mint(&s, "t2", "one");
	ck_assert(tk_until(gets_in, &t2, SOON_MS));

	/* Neither does a broker that was away miss it. */
	tk_signal(&s.k.proc, SIGKILL);
	(void)tk_wait(&s.k.proc, BED_MS);
	ck_assert_int_eq(
	    credential_revoke(s.b.db.s, STR("t1"), NULL, NULL), RC_OK);
	broker_start(&s.k);
	ck_assert(tk_until(is_refused, &t1, SOON_MS));
	ck_assert(gets_in(&t2));
	close_scene(&s);
}

static bool
knows_all(void *arg)
{
	struct scene *s = arg;
	size_t n, i, lines = 0;
	char *text = tk_read_file(s->k.users, &n);

	for (i = 0; i < n; i++)
		lines += text[i] == '\n';
	free(text);
	return lines == MANY + 1;
}

/* More than a page of them; another Redis, empty, does not lock them out. */
TEST_T(many, 120)
{
	const struct credential c = { .hash = STR("$7$1$AAAA$AAAA"),
		.created = { 1 } };
	struct credential one = c;
	struct scene s;
	char id[16];
	int i;

	open_scene(&s, "--reload-command", "true");
	for (i = 0; i < MANY; i++) {
		snprintf(id, sizeof(id), "b%d", i);
		one.terminal_id = str_of(id);
		ck_assert_int_eq(
		    credential_mint(s.b.db.s, &one, NULL, NULL), RC_OK);
	}
	ck_assert(tk_until(knows_all, &s, SOON_MS));
	tk_signal(&s.keeper, SIGTERM);
	ck_assert_int_eq(tk_wait(&s.keeper, BED_MS), 0);
	ck_assert_int_eq(
	    state_cmd(s.b.db.s, STATE_ARGS(STR("FLUSHALL")), NULL), RC_OK);
	keep(&s, "--once", "--once");
	ck_assert_int_eq(tk_wait(&s.keeper, BED_MS), 1);
	ck_assert(tk_log_has(&s.keeper, "Redis has no identities"));
	ck_assert(knows_all(&s));
	/* The file is removed: from the beginning. */
	ck_assert_int_eq(unlink(s.k.users), 0);
	keep(&s, "--once", "--once");
	ck_assert_int_eq(tk_wait(&s.keeper, BED_MS), 0);
	ck_assert(!knows_all(&s));
	broker_end(&s.k);
	bed_stop(&s.b);
}

/* A listener that says nothing: whoever asks it waits. */
static int
mute(int *port)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t n = sizeof(to);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&to, &n), 0);
	*port = ntohs(to.sin_port);
	return fd;
}

/* Whoever starts it must not take a file for written that is not. */
TEST(once_that_is_ended_before_it_wrote)
{
	static const int signals[] = { SIGTERM, SIGINT };
	char url[64];
	const char *const e[] = { url, NULL };
	const char *const v[] = { tk_bin("mqtt-bridge"), "passwords", "--file",
		tk_path("users"), "--once", NULL };
	int port, fd = mute(&port);
	struct tk_proc p;
	size_t i;

	snprintf(url, sizeof(url), "REDIS_URL=redis://127.0.0.1:%d", port);
	for (i = 0; i < NELEM(signals); i++) {
		tk_spawn(&p, "passwords", v, e);
		int peer = accept(fd, NULL, NULL);
		ck_assert_int_ge(peer, 0);
		tk_signal(&p, signals[i]);
		ck_assert_int_eq(tk_wait(&p, BED_MS), 1);
		ck_assert_int_ne(access(tk_path("users"), F_OK), 0);
		(void)close(peer);
	}
	(void)close(fd);
}

TEST(arguments)
{
	static const char *const bad[][4] = {
		{ NULL },
		{ "--file" },
		{ "--file", "f", "--pid", "x" },
		{ "--file", "f", "--what" },
		{ "--file", "f", "--also", "" },
	};
	struct tk_proc p;
	size_t i;

	for (i = 0; i < NELEM(bad); i++) {
		const char *const v[] = { tk_bin("mqtt-bridge"), "passwords",
			bad[i][0], bad[i][1], bad[i][2], bad[i][3], NULL };

		tk_spawn(&p, "passwords", v, NULL);
		ck_assert_int_eq(tk_wait(&p, BED_MS), 64);
		ck_assert(tk_log_has(&p, "--help"));
	}
}
