/* The broker's password file follows the identities of terminals. */
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auth/auth.h"
#include "core/clock.h"
#include "core/mem.h"
#include "state/terminal.h"
#include "testkit/bridge_fixture.h"
#include "testkit/broker_fixture.h"
#include "testkit/mqtt_loop.h"

/* Time for the file to follow, and the broker to reload it. */
#define SOON_MS 5000
#define MANY    2500

struct password_fixture {
	struct broker_fixture k;
	struct bridge_fixture b;
	struct tk_proc sync;
	int starts;
};

static void
password_spawn(struct password_fixture *s, const char *how, const char *what)
{
	char env[128], name[24];
	const char *const e[] = { env, NULL };
	const char *const v[] = { tk_bin("mqtt-bridge"), "passwords", "--file",
		s->k.users, how, what, "--also", tk_path("also"), NULL };

	snprintf(env, sizeof(env), "REDIS_URL=%s", s->b.redis.url);
	snprintf(name, sizeof(name), "passwords-%d", s->starts++);
	tk_spawn(&s->sync, name, v, e);
}

static void
password_start(struct password_fixture *s, const char *how, const char *what)
{
	struct buf also = BUF_INIT(1024);

	memset(s, 0, sizeof(*s));
	broker_fixture_make(&s->k, 0);
	broker_fixture_start(&s->k);
	broker_fixture_bridge(&s->k, &s->b);
	broker_fixture_put_user(&also, "health");
	tk_write_file(tk_path("also"), also.p);
	buf_free(&also);
	password_spawn(s, how, what);
}

static void
password_stop(struct password_fixture *s)
{
	tk_signal(&s->sync, SIGTERM);
	ck_assert_int_eq(tk_wait(&s->sync, BRIDGE_WAIT_MS), 0);
	broker_fixture_stop(&s->k);
	bridge_fixture_stop(&s->b);
}

static void
password_mint(struct password_fixture *s, const char *id, const char *secret)
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

/*
 * A client connection: the CONNACK, -1 before it arrives, and whether it was
 * closed.
 */
struct login {
	struct mosquitto *mosq;
	struct mqtt_loop loop;
	_Atomic int connack, down;
};

static void
login_on_connack(struct mosquitto *mosq, void *arg, int rc)
{
	struct login *l = arg;

	(void)mosq;
	atomic_store(&l->connack, rc);
}

static void
login_on_disconnect(struct mosquitto *mosq, void *arg, int rc)
{
	struct login *l = arg;

	(void)mosq;
	(void)rc;
	atomic_fetch_add(&l->down, 1);
}

static bool
login_has_connack(void *arg)
{
	return atomic_load(&((struct login *)arg)->connack) != -1;
}

static bool
login_is_down(void *arg)
{
	return atomic_load(&((struct login *)arg)->down) > 0;
}

static int
login_open(struct login *l, int port, const char *user, const char *pw)
{
	atomic_init(&l->connack, -1);
	atomic_init(&l->down, 0);
	mosquitto_lib_init();
	l->mosq = mosquitto_new(NULL, true, l);
	mosquitto_username_pw_set(l->mosq, user, pw);
	mosquitto_connect_callback_set(l->mosq, login_on_connack);
	mosquitto_disconnect_callback_set(l->mosq, login_on_disconnect);
	ck_assert_int_eq(mosquitto_connect(l->mosq, "127.0.0.1", port, 60), 0);
	mqtt_loop_start(&l->loop, l->mosq, MQTT_LOOP_NO_RETRY);
	ck_assert(tk_until(login_has_connack, l, BRIDGE_WAIT_MS));
	return atomic_load(&l->connack);
}

static void
login_close(struct login *l)
{
	mqtt_loop_close(&l->loop);
	mosquitto_destroy(l->mosq);
	mosquitto_lib_cleanup();
}

struct login_attempt {
	int port;
	const char *user, *pw;
};

static bool
login_succeeds(void *arg)
{
	const struct login_attempt *t = arg;
	struct login l;
	int rc = login_open(&l, t->port, t->user, t->pw);

	login_close(&l);
	return rc == 0;
}

static bool
login_fails(void *arg)
{
	return !login_succeeds(arg);
}

TEST_T(logins_follow_identities, 60)
{
	struct password_fixture s;
	struct login l;
	char hash[AUTH_HASH_MAX];
	struct stat st;
	struct mono at;

	password_start(&s, "--pid-file", tk_path("mosquitto.pid"));
	struct login_attempt t1 = { s.k.bodies, "t1", "one" };
	struct login_attempt two = { s.k.bodies, "t1", "two" };
	password_mint(&s, "t1", "one");
	at = clock_mono();
	ck_assert(tk_until(login_succeeds, &t1, SOON_MS));
	printf("# a new identity gets in after %lld ms\n",
	    (long long)mono_diff_ms(clock_mono(), at));
	ck_assert_int_eq(stat(s.k.users, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	ck_assert(!login_succeeds(&two));

	/* Rotating the password ends the session. */
	ck_assert_int_eq(login_open(&l, s.k.bodies, "t1", "one"), 0);
	auth_secret_hash(STR("two"), hash);
	ck_assert_int_eq(
	    credential_rotate(s.b.db.s, STR("t1"), str_of(hash)), RC_OK);
	at = clock_mono();
	ck_assert(tk_until(login_is_down, &l, SOON_MS));
	printf("# a rotated one is out after %lld ms\n",
	    (long long)mono_diff_ms(clock_mono(), at));
	login_close(&l);
	ck_assert(tk_until(login_succeeds, &two, SOON_MS));
	ck_assert(!login_succeeds(&t1));

	ck_assert_int_eq(login_open(&l, s.k.bodies, "t1", "two"), 0);
	ck_assert_int_eq(
	    credential_revoke(s.b.db.s, STR("t1"), NULL, NULL), RC_OK);
	at = clock_mono();
	ck_assert(tk_until(login_is_down, &l, SOON_MS));
	printf("# a revoked one is out after %lld ms\n",
	    (long long)mono_diff_ms(clock_mono(), at));
	login_close(&l);
	ck_assert(!login_succeeds(&two));
	password_stop(&s);
}

TEST_T(unsafe_ids_get_no_line, 60)
{
	struct password_fixture s;
	size_t n;
	char *text;

	password_start(&s, "--pid-file", tk_path("mosquitto.pid"));
	struct login_attempt good = { s.k.bodies, "zz 桌", "one" };
	password_mint(&s, "a:b", "one");
	password_mint(&s, "health", "one");
	password_mint(&s, "has-a-certificate", NULL);
	password_mint(&s, " blank", "one");
	password_mint(&s, "zz 桌", "one");
	ck_assert(tk_until(login_succeeds, &good, SOON_MS));
	text = tk_read_file(s.k.users, &n);
	ck_assert_ptr_null(strstr(text, "a:b"));
	ck_assert_ptr_null(strstr(text, "certificate"));
	ck_assert_ptr_null(strstr(text, "blank"));
	ck_assert_ptr_eq(strstr(text, "health:"), text);
	ck_assert_ptr_null(strstr(text + 1, "health:"));
	free(text);
	password_stop(&s);
}

/* The file stays unchanged, and later changes are applied. */
TEST_T(the_file_survives_redis_outages, 60)
{
	struct password_fixture s;

	password_start(&s, "--pid-file", tk_path("mosquitto.pid"));
	struct login_attempt t1 = { s.k.bodies, "t1", "one" };
	struct login_attempt t2 = { s.k.bodies, "t2", "one" };
	password_mint(&s, "t1", "one");
	ck_assert(tk_until(login_succeeds, &t1, SOON_MS));
	tk_server_stop(&s.b.redis, SIGKILL);
	tk_signal(&s.k.proc, SIGHUP);
	ck_assert(login_succeeds(&t1));
	tk_server_restart(&s.b.redis);
	tk_state_wait(&s.b.db);
	password_mint(&s, "t2", "one");
	ck_assert(tk_until(login_succeeds, &t2, SOON_MS));

	/* A broker that was down reads them when it starts. */
	tk_signal(&s.k.proc, SIGKILL);
	(void)tk_wait(&s.k.proc, BRIDGE_WAIT_MS);
	ck_assert_int_eq(
	    credential_revoke(s.b.db.s, STR("t1"), NULL, NULL), RC_OK);
	broker_fixture_start(&s.k);
	ck_assert(tk_until(login_fails, &t1, SOON_MS));
	ck_assert(login_succeeds(&t2));
	password_stop(&s);
}

static bool
password_file_complete(void *arg)
{
	struct password_fixture *s = arg;
	size_t n, i, lines = 0;
	char *text = tk_read_file(s->k.users, &n);

	for (i = 0; i < n; i++)
		lines += text[i] == '\n';
	free(text);
	return lines == MANY + 1;
}

/* Several pages of identities; then an empty Redis must not lock them out. */
TEST_T(an_empty_redis_does_not_empty_the_file, 120)
{
	const struct credential c = { .hash = STR("$7$1$AAAA$AAAA"),
		.created = { 1 } };
	struct credential one = c;
	struct password_fixture s;
	char id[16];
	int i;

	password_start(&s, "--reload-command", "true");
	for (i = 0; i < MANY; i++) {
		snprintf(id, sizeof(id), "b%d", i);
		one.terminal_id = str_of(id);
		ck_assert_int_eq(
		    credential_mint(s.b.db.s, &one, NULL, NULL), RC_OK);
	}
	ck_assert(tk_until(password_file_complete, &s, SOON_MS));
	tk_signal(&s.sync, SIGTERM);
	ck_assert_int_eq(tk_wait(&s.sync, BRIDGE_WAIT_MS), 0);
	ck_assert_int_eq(
	    state_cmd(s.b.db.s, STATE_ARGS(STR("FLUSHALL")), NULL), RC_OK);
	password_spawn(&s, "--once", "--once");
	ck_assert_int_eq(tk_wait(&s.sync, BRIDGE_WAIT_MS), 1);
	ck_assert(tk_log_has(&s.sync, "Redis has no identities"));
	ck_assert(password_file_complete(&s));
	/* Without the file, the empty Redis is accepted. */
	ck_assert_int_eq(unlink(s.k.users), 0);
	password_spawn(&s, "--once", "--once");
	ck_assert_int_eq(tk_wait(&s.sync, BRIDGE_WAIT_MS), 0);
	ck_assert(!password_file_complete(&s));
	broker_fixture_stop(&s.k);
	bridge_fixture_stop(&s.b);
}

/* Accepts connections and never replies. */
static int
listen_silently(int *port)
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

/* The exit code must not suggest that the file was written. */
TEST(a_signal_before_the_write_is_a_failure)
{
	static const int signals[] = { SIGTERM, SIGINT };
	char url[64];
	const char *const e[] = { url, NULL };
	const char *const v[] = { tk_bin("mqtt-bridge"), "passwords", "--file",
		tk_path("users"), "--once", NULL };
	int port, fd = listen_silently(&port);
	struct tk_proc p;
	size_t i;

	snprintf(url, sizeof(url), "REDIS_URL=redis://127.0.0.1:%d", port);
	for (i = 0; i < NELEM(signals); i++) {
		tk_spawn(&p, "passwords", v, e);
		int peer = accept(fd, NULL, NULL);
		ck_assert_int_ge(peer, 0);
		tk_signal(&p, signals[i]);
		ck_assert_int_eq(tk_wait(&p, BRIDGE_WAIT_MS), 1);
		ck_assert_int_ne(access(tk_path("users"), F_OK), 0);
		(void)close(peer);
	}
	(void)close(fd);
}

TEST(wrong_arguments_exit_64)
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
		ck_assert_int_eq(tk_wait(&p, BRIDGE_WAIT_MS), 64);
		ck_assert(tk_log_has(&p, "--help"));
	}
}
