/*
 * Watched descriptors: levels, hang-ups, and watches that change while the
 * events of one wait are handled.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/loop.h"
#include "core/mem.h"
#include "testkit/testkit.h"

struct end {
	struct loop *l;
	struct loop_fd w;
	int peer;
	int calls;
	unsigned last; /* events of the last call */
	char got[16];
	size_t n;
};

static void
end_open(struct end *e, struct loop *l, void (*fn)(void *, unsigned))
{
	int s[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
	*e = (struct end){ .l = l, .peer = s[1] };
	e->w = (struct loop_fd){ .fd = s[0], .fn = fn, .arg = e };
}

static void
end_close(struct end *e)
{
	loop_fd_watch(e->l, &e->w, 0);
	(void)close(e->w.fd);
	(void)close(e->peer);
}

static void
send_bytes(struct end *e, const char *text)
{
	size_t n = strlen(text);

	ck_assert_int_eq(write(e->peer, text, n), (ssize_t)n);
}

/* Reads one byte a call and stops the loop at a dot. */
static void
read_one(void *arg, unsigned events)
{
	struct end *e = arg;

	e->calls++;
	e->last = events;
	ck_assert_int_eq(read(e->w.fd, &e->got[e->n], 1), 1);
	if (e->got[e->n++] == '.')
		loop_stop(e->l);
}

TEST(readiness_is_level_triggered)
{
	struct loop *l = loop_new(1);
	struct end e;

	end_open(&e, l, read_one);
	loop_fd_watch(l, &e.w, LOOP_READ);
	loop_fd_watch(l, &e.w, LOOP_READ);
	send_bytes(&e, "abc.");
	loop_run(l);
	ck_assert_int_eq(e.calls, 4);
	ck_assert_uint_eq(e.last, LOOP_READ);
	ck_assert_int_eq(memcmp(e.got, "abc.", 4), 0);
	end_close(&e);
	loop_free(l);
}

static void
count_and_stop(void *arg, unsigned events)
{
	struct end *e = arg;

	e->calls++;
	e->last = events;
	loop_stop(e->l);
}

TEST(only_watched_events_are_reported)
{
	struct loop *l = loop_new(1);
	struct end e;

	end_open(&e, l, count_and_stop);
	send_bytes(&e, "x");
	loop_fd_watch(l, &e.w, LOOP_WRITE);
	loop_run(l);
	ck_assert_uint_eq(e.last, LOOP_WRITE);
	loop_fd_watch(l, &e.w, LOOP_READ);
	loop_run(l);
	ck_assert_uint_eq(e.last, LOOP_READ);
	loop_fd_watch(l, &e.w, LOOP_READ | LOOP_WRITE);
	loop_run(l);
	ck_assert_uint_eq(e.last, LOOP_READ | LOOP_WRITE);
	ck_assert_int_eq(e.calls, 3);
	end_close(&e);
	loop_free(l);
}

TEST(a_hang_up_is_reported_as_read_and_write)
{
	static const unsigned watched[] = { LOOP_READ, LOOP_WRITE };
	struct loop *l = loop_new(1);

	for (size_t i = 0; i < NELEM(watched); i++) {
		struct end e;

		end_open(&e, l, count_and_stop);
		loop_fd_watch(l, &e.w, watched[i]);
		(void)close(e.peer);
		loop_run(l);
		ck_assert_uint_eq(e.last, LOOP_READ | LOOP_WRITE);
		loop_fd_watch(l, &e.w, 0);
		(void)close(e.w.fd);
	}
	loop_free(l);
}

TEST(a_reused_descriptor_number_is_watched)
{
	struct loop *l = loop_new(1);
	struct end a, b;
	int fd;

	end_open(&a, l, count_and_stop);
	loop_fd_watch(l, &a.w, LOOP_READ);
	/* Closed while watched; another socket gets its number. */
	fd = a.w.fd;
	(void)close(fd);
	(void)close(a.peer);
	end_open(&b, l, count_and_stop);
	ck_assert_int_eq(dup2(b.w.fd, fd), fd);
	loop_fd_watch(l, &a.w, LOOP_WRITE);
	loop_run(l);
	ck_assert_int_eq(a.calls, 1);
	/* Unwatching a closed descriptor has no effect. */
	(void)close(fd);
	loop_fd_watch(l, &a.w, 0);
	end_close(&b);
	loop_free(l);
}

/* Sockets that are all ready; the first callback changes all. */
enum { ENDS = 8 };

struct sockets {
	struct loop *l;
	struct member {
		struct sockets *all;
		struct end *e;
		bool called;
	} m[ENDS];
	int calls;
};

static void
sockets_open(struct sockets *c, void (*fn)(void *, unsigned))
{
	*c = (struct sockets){ .l = loop_new(4) };
	for (int i = 0; i < ENDS; i++) {
		struct end *e = mem_alloc(sizeof(*e));

		end_open(e, c->l, fn);
		c->m[i] = (struct member){ c, e, false };
		e->w.arg = &c->m[i];
		send_bytes(e, "x");
		loop_fd_watch(c->l, &e->w, LOOP_READ);
	}
}

static void
sockets_close(struct sockets *c)
{
	for (int i = 0; i < ENDS; i++)
		if (c->m[i].e != NULL) {
			end_close(c->m[i].e);
			free(c->m[i].e);
		}
	loop_free(c->l);
}

static void
stop_loop(void *arg)
{
	loop_stop(arg);
}

/* Posts run after all events of a wait, so a posted stop is too late. */
static void
stop_soon(struct sockets *c)
{
	ck_assert_int_eq(loop_post(c->l, stop_loop, c->l), RC_OK);
}

static void
remove_all_others(void *arg, unsigned events)
{
	struct member *m = arg;
	struct sockets *c = m->all;

	(void)events;
	c->calls++;
	for (int i = 0; i < ENDS; i++)
		if (&c->m[i] != m) {
			end_close(c->m[i].e);
			free(c->m[i].e);
			c->m[i].e = NULL;
		}
	stop_soon(c);
}

TEST(watches_removed_in_a_callback_are_not_called)
{
	struct sockets c;

	sockets_open(&c, remove_all_others);
	loop_run(c.l);
	ck_assert_int_eq(c.calls, 1);
	sockets_close(&c);
}

static void
remove_itself(void *arg, unsigned events)
{
	struct member *m = arg;

	(void)events;
	ck_assert(!m->called);
	m->called = true;
	end_close(m->e);
	free(m->e);
	m->e = NULL;
	if (++m->all->calls == ENDS)
		stop_soon(m->all);
}

TEST(a_callback_may_remove_and_free_its_own_watch)
{
	struct sockets c;

	sockets_open(&c, remove_itself);
	loop_run(c.l);
	ck_assert_int_eq(c.calls, ENDS);
	sockets_close(&c);
}

/* Reopens all others in the same memory; the new ones have no data. */
static void
replace_all_others(void *arg, unsigned events)
{
	struct member *m = arg;
	struct sockets *c = m->all;

	(void)events;
	c->calls++;
	for (int i = 0; i < ENDS; i++) {
		struct end *e = c->m[i].e;

		if (&c->m[i] == m)
			continue;
		end_close(e);
		end_open(e, c->l, replace_all_others);
		e->w.arg = &c->m[i];
		loop_fd_watch(c->l, &e->w, LOOP_READ);
	}
	stop_soon(c);
}

TEST(a_new_watch_does_not_inherit_events)
{
	struct sockets c;

	sockets_open(&c, replace_all_others);
	loop_run(c.l);
	ck_assert_int_eq(c.calls, 1);
	sockets_close(&c);
}

static void
only_write_for_others(void *arg, unsigned events)
{
	struct member *m = arg;
	struct sockets *c = m->all;

	if (c->calls++ == 0) {
		ck_assert_uint_eq(events, LOOP_READ);
		for (int i = 0; i < ENDS; i++)
			if (&c->m[i] != m)
				loop_fd_watch(c->l, &c->m[i].e->w, LOOP_WRITE);
		loop_fd_watch(c->l, &m->e->w, 0);
	} else
		ck_assert_uint_eq(events, LOOP_WRITE);
	if (c->calls == ENDS)
		loop_stop(c->l);
}

TEST(events_that_are_no_longer_watched_are_not_called)
{
	struct sockets c;

	sockets_open(&c, only_write_for_others);
	loop_run(c.l);
	sockets_close(&c);
}

static void
stop_now(void *arg, unsigned events)
{
	struct member *m = arg;

	(void)events;
	m->all->calls++;
	loop_stop(m->all->l);
}

TEST(a_stop_skips_events_until_the_next_run)
{
	struct sockets c;

	sockets_open(&c, stop_now);
	for (int i = 1; i <= 3; i++) {
		loop_run(c.l);
		ck_assert_int_eq(c.calls, i);
	}
	sockets_close(&c);
}

/* Reads until the socket is empty, as a client library does. */
static void
read_all(void *arg, unsigned events)
{
	struct end *e = arg;
	char b[16];

	(void)events;
	e->calls++;
	while (recv(e->w.fd, b, sizeof(b), MSG_DONTWAIT) >= 0)
		continue;
}

static void
on_enough(void *arg)
{
	loop_stop(arg);
}

TEST(an_entry_of_the_error_queue_is_one_event)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct loop *l = loop_new(16);
	struct end e = { .l = l };
	struct loop_timer enough = { 0 };
	int on = 1;

	e.w = (struct loop_fd){
		.fd = socket(AF_INET, SOCK_DGRAM, 0), .fn = read_all, .arg = &e
	};
	ck_assert_int_eq(
	    setsockopt(e.w.fd, IPPROTO_IP, IP_RECVERR, &on, sizeof(on)), 0);
	/* No listener: an ICMP message is queued. */
	to.sin_port = htons((uint16_t)tk_port());
	ck_assert_int_eq(
	    sendto(e.w.fd, "x", 1, 0, (struct sockaddr *)&to, sizeof(to)), 1);
	loop_fd_watch(l, &e.w, LOOP_READ);
	loop_timer_set(
	    l, &enough, mono_add_ms(clock_mono(), 100), on_enough, l);
	loop_run(l);
	ck_assert_int_ge(e.calls, 1);
	ck_assert_int_le(e.calls, 3);
	loop_fd_watch(l, &e.w, 0);
	(void)close(e.w.fd);
	loop_free(l);
}
