/*
 * A cluster whose redirections are wrong, lead in circles, or to nowhere: calls
 * end before their deadline, after a limited number of requests.
 */
#include <stdatomic.h>

#include "core/fiber.h"
#include "testkit/raw_server.h"
#include "testkit/state_fixture.h"

#define DEADLINE_MS 800

struct fake {
	struct raw_server server;
	const char *slots; /* NULL: it serves all */
	const char *reply; /* to what is no part of a connection's set-up */
	_Atomic int calls;
	struct state_fixture f;
	enum rc rc;
	char text[128];
	_Atomic bool ended;
};

/* The next command, its first argument; false at the end. */
static bool
fake_read(FILE *in, char name[32])
{
	char line[64], bytes[65536];
	long n, i, len;

	if (fgets(line, sizeof(line), in) == NULL)
		return false;
	n = strtol(line + 1, NULL, 10);
	for (i = 0; i < n; i++) {
		if (fgets(line, sizeof(line), in) == NULL)
			return false;
		len = strtol(line + 1, NULL, 10);
		ck_assert_int_lt(len + 2, (long)sizeof(bytes));
		if (fread(bytes, 1, (size_t)len + 2, in) != (size_t)len + 2)
			return false;
		bytes[len] = '\0';
		if (i == 0)
			str_copy(str_of(bytes), name, 32);
	}
	return true;
}

static void
fake_serve(struct raw_server *server, int fd)
{
	struct fake *x = CONTAINER_OF(server, struct fake, server);
	FILE *in = fdopen(dup(fd), "r");
	char name[32], text[256];
	bool ok = true;

	ck_assert_ptr_nonnull(in);
	while (ok && fake_read(in, name)) {
		snprintf(text, sizeof(text), "+OK\r\n");
		if (strcmp(name, "CLUSTER") == 0)
			snprintf(text, sizeof(text),
			    "*1\r\n*3\r\n:0\r\n:16383\r\n"
			    "*2\r\n$9\r\n127.0.0.1\r\n:%d\r\n",
			    server->port);
		else if (strcmp(name, "GET") == 0) {
			atomic_fetch_add(&x->calls, 1);
			snprintf(text, sizeof(text), "%s", x->reply);
		}
		if (strcmp(name, "CLUSTER") == 0 && x->slots != NULL)
			snprintf(text, sizeof(text), "%s", x->slots);
		ok = raw_server_write(fd, text);
	}
	fclose(in);
}

static void
fake_start(struct fake *x)
{
	char url[64];

	raw_server_open(&x->server, fake_serve);
	state_fixture_init(&x->f);
	snprintf(
	    url, sizeof(url), "redis+cluster://127.0.0.1:%d", x->server.port);
	state_fixture_connect(&x->f, url, DEADLINE_MS);
}

static void
fake_end(struct fake *x)
{
	state_fixture_stop(&x->f);
	raw_server_close(&x->server);
}

static void
fiber_gets(void *arg)
{
	struct fake *x = arg;
	struct state_reply *r;

	x->rc = state_cmd(x->f.s, STATE_ARGS(STR("GET"), STR("k")), &r);
	str_copy(state_reply_str(r), x->text, sizeof(x->text));
	state_reply_free(r);
	x->ended = true;
}

static bool
has_ended(void *arg)
{
	return ((struct fake *)arg)->ended;
}

/* A GET ends with RC_DOWN before its deadline. */
static void
get_ends(struct fake *x, int max_calls)
{
	struct mono t = clock_mono();

	x->ended = false;
	x->calls = 0;
	fiber_start(fiber_gets, x);
	ck_assert(
	    tk_loop_until(x->f.loop, has_ended, x, STATE_FIXTURE_WAIT_MS));
	ck_assert_int_eq(x->rc, RC_DOWN);
	ck_assert_int_lt(mono_diff_ms(clock_mono(), t), DEADLINE_MS + 200);
	ck_assert_int_le(x->calls, max_calls);
}

TEST(circles_end)
{
	static const char *const kinds[] = { "MOVED", "ASK" };
	struct fake x = { .reply = "" };
	char reply[64];
	size_t i;

	fake_start(&x);
	state_fixture_wait_up(&x.f);
	for (i = 0; i < NELEM(kinds); i++) {
		snprintf(reply, sizeof(reply), "-%s 7629 127.0.0.1:%d\r\n",
		    kinds[i], x.server.port);
		x.reply = reply;
		get_ends(&x, 40);
		ck_assert_int_gt(x.calls, 4);
		ck_assert(str_starts(str_of(x.text), str_of(kinds[i])));
	}
	fake_end(&x);
}

TEST(redirections_that_cannot_be_read_are_results)
{
	static const char *const replies[] = { "-MOVED\r\n",
		"-MOVED 99999 127.0.0.1:1\r\n", "-ASK 1 127.0.0.1:70000\r\n",
		"-MOVED 1 ?:7\r\n" };
	struct fake x = { .reply = "" };
	size_t i;

	fake_start(&x);
	state_fixture_wait_up(&x.f);
	for (i = 0; i < NELEM(replies); i++) {
		x.reply = replies[i];
		get_ends(&x, 1);
	}
	fake_end(&x);
}

/* The slot's new server cannot be connected. */
TEST(a_redirection_to_nowhere_is_down)
{
	struct fake x = { .reply = "" };
	char reply[64];

	fake_start(&x);
	state_fixture_wait_up(&x.f);
	snprintf(
	    reply, sizeof(reply), "-MOVED 7629 127.0.0.1:%d\r\n", tk_port());
	x.reply = reply;
	get_ends(&x, 10);
	fake_end(&x);
}

TEST(a_map_that_cannot_be_read_is_not_up)
{
	static const char *const slots[] = { "*0\r\n", "+OK\r\n",
		"*1\r\n*3\r\n:0\r\n:99999\r\n*2\r\n$1\r\nh\r\n:1\r\n",
		"*1\r\n*2\r\n:0\r\n:1\r\n", "-ERR no\r\n", "garbage\r\n" };
	size_t i;

	for (i = 0; i < NELEM(slots); i++) {
		struct fake x = { .slots = slots[i], .reply = "" };

		fake_start(&x);
		ck_assert(
		    !tk_loop_until(x.f.loop, state_fixture_is_up, x.f.s, 150));
		get_ends(&x, 0);
		fake_end(&x);
	}
}
