/* A peer that sends malformed, slow, or endless replies. */
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "state/scripts.h"
#include "testkit/state_fixture.h"

#define DEADLINE_MS 400
#define SLACK_MS    1500

/* It begins like Redis; then each command gets the test's reply. */
struct peer {
	struct state_fixture fixture;
	pthread_t thread;
	int listener;
	const char *answer;
	size_t n;
	size_t part;  /* bytes of it at a time; 0: at once */
	bool endless; /* the reply, repeated */
	_Atomic bool over;
};

static bool
put(struct peer *p, int fd, const char *s, size_t n)
{
	(void)p;
	return send(fd, s, n, MSG_NOSIGNAL) == (ssize_t)n;
}

static bool
peer_over(void *arg)
{
	struct peer *p = arg;

	return atomic_load(&p->over);
}

static void
answer(struct peer *p, int fd)
{
	size_t at, n;

	do {
		for (at = 0; at < p->n && !p->over; at += n) {
			n = p->part != 0 ? p->part : p->n;
			n = n < p->n - at ? n : p->n - at;
			if (!put(p, fd, p->answer + at, n))
				return;
			if (p->part != 0)
				(void)tk_until(peer_over, p, 20);
		}
	} while (p->endless && !p->over);
}

/* Bytes of loading all scripts. */
static size_t
load_size(void)
{
	size_t i, n = 0;

	for (i = 0; i < STATE_SCRIPTS; i++)
		n += (size_t)snprintf(NULL, 0,
		    "*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$%zu\r\n%s\r\n",
		    strlen(state_scripts[i]->text), state_scripts[i]->text);
	return n;
}

/* Accept the scripts, of which the first n bytes were received. */
static void
load(struct peer *p, int fd, size_t n)
{
	size_t i, left = load_size() - n;
	char buf[4096];
	ssize_t got;

	while (left > 0) {
		n = left < sizeof(buf) ? left : sizeof(buf);
		got = recv(fd, buf, n, 0);
		if (got <= 0)
			return;
		left -= (size_t)got;
	}
	for (i = 0; i < STATE_SCRIPTS; i++)
		(void)put(p, fd, "+OK\r\n", 5);
}

static void
serve(struct peer *p, int fd)
{
	char buf[4096];
	ssize_t n;

	while ((n = recv(fd, buf, sizeof(buf), 0)) > 0) {
		struct str got = { buf, (size_t)n };

		if (str_find(got, STR("SETNAME")) >= 0)
			(void)put(p, fd, "+OK\r\n", 5);
		else if (str_find(got, STR("PING")) >= 0)
			(void)put(p, fd, "+PONG\r\n", 7);
		else if (str_find(got, STR("SCRIPT")) >= 0)
			load(p, fd, got.n);
		else if (p->n == 0)
			return;
		else
			answer(p, fd);
	}
}

static void *
peer_main(void *arg)
{
	struct peer *p = arg;
	int fd;

	while ((fd = accept(p->listener, NULL, NULL)) != -1) {
		serve(p, fd);
		close(fd);
	}
	return NULL;
}

static void
peer_start(struct peer *p, const char *text)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t n = sizeof(a);
	char url[64];

	p->answer = text;
	p->n = strlen(text);
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	p->listener = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(p->listener, (struct sockaddr *)&a, n), 0);
	ck_assert_int_eq(listen(p->listener, 8), 0);
	ck_assert_int_eq(
	    getsockname(p->listener, (struct sockaddr *)&a, &n), 0);
	ck_assert_int_eq(pthread_create(&p->thread, NULL, peer_main, p), 0);
	state_fixture_init(&p->fixture);
	snprintf(url, sizeof(url), "redis://127.0.0.1:%d", ntohs(a.sin_port));
	state_fixture_connect(&p->fixture, url, DEADLINE_MS);
	state_fixture_wait_up(&p->fixture);
}

static void
peer_end(struct peer *p)
{
	atomic_store(&p->over, true);
	state_fixture_stop(&p->fixture);
	shutdown(p->listener, SHUT_RDWR);
	pthread_join(p->thread, NULL);
	close(p->listener);
}

/* One GET must end with want within the deadline, leaving no connection. */
static void
get(struct peer *p, enum rc want)
{
	struct mono t = clock_mono();
	struct state_reply *r;
	int64_t ms;

	ck_assert_int_eq(
	    state_cmd(p->fixture.s, STATE_ARGS(STR("GET"), STR("k")), &r),
	    want);
	ms = mono_diff_ms(clock_mono(), t);
	ck_assert_int_lt(ms, DEADLINE_MS + SLACK_MS);
	ck_assert_ptr_null(r);
	ck_assert(!state_up(p->fixture.s));
	state_fixture_wait_up(&p->fixture);
}

/* Bytes keep coming, so a deadline per read would never pass. */
TEST(a_dripping_reply_times_out)
{
	struct peer p = { .part = 1 };

	peer_start(&p,
	    "$100\r\n0123456789012345678901234567890123456789012345678901234");
	get(&p, RC_TIMEOUT);
	peer_end(&p);
}

TEST(a_peer_that_closes_is_an_error)
{
	struct peer p = { .n = 0 };

	peer_start(&p, "");
	get(&p, RC_TIMEOUT);
	peer_end(&p);
}

TEST(garbage_is_an_error)
{
	static const char *const t[] = { "HTTP/1.1 400 Bad Request\r\n\r\n",
		"%1\r\n+a\r\n:1\r\n", "$abc\r\n", "$-2\r\n", ":12x\r\n",
		"*-5\r\n", "*99999999999\r\n",
		"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n",
		"$99999999999999999999\r\n" };
	size_t i;

	for (i = 0; i < NELEM(t); i++) {
		struct peer p = { .n = 0 };

		peer_start(&p, t[i]);
		get(&p, RC_TIMEOUT);
		peer_end(&p);
	}
}

/* An announced size must not be allocated. */
TEST(an_announced_size_is_not_allocated)
{
	struct peer p = { .n = 0 };

	peer_start(&p, "*2000000000\r\n:1\r\n");
	get(&p, RC_TOOBIG);
	peer_end(&p);
}

TEST(an_endless_string_is_an_error)
{
	static char filler[65536];
	struct peer p = { .endless = true };

	memset(filler, 'x', sizeof(filler) - 1);
	memcpy(filler, "$500000000\r\n", 12);
	peer_start(&p, filler);
	/* The deadline or the limit, whichever comes first on this machine. */
	enum rc rc =
	    state_cmd(p.fixture.s, STATE_ARGS(STR("GET"), STR("k")), NULL);
	ck_assert(rc == RC_TOOBIG || rc == RC_TIMEOUT);
	ck_assert(!state_up(p.fixture.s));
	peer_end(&p);
}

/* More replies than commands: a surplus one is not the next command's. */
TEST(surplus_replies_are_an_error)
{
	struct peer p = { .n = 0 };
	struct state_reply *r;

	peer_start(&p, "+first\r\n+unasked\r\n");
	ck_assert_int_eq(
	    state_cmd(p.fixture.s, STATE_ARGS(STR("GET"), STR("k")), &r),
	    RC_OK);
	ck_assert_str_eq(state_reply_str(r).p, "first");
	state_reply_free(r);
	ck_assert_int_eq(
	    state_cmd(p.fixture.s, STATE_ARGS(STR("GET"), STR("k")), &r),
	    RC_DOWN);
	ck_assert_ptr_null(r);
	peer_end(&p);
}
