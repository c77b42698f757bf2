/*
 * The server goes away and comes back; the bus restores everything.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "testkit/bus_fixture.h"

struct states {
	int ups, downs;
	struct mono down_at;
};

static void
on_state(void *arg, bool up)
{
	struct states *s = arg;

	if (up) {
		s->ups++;
	} else {
		s->downs++;
		s->down_at = clock_mono();
	}
}

static struct bus *
bus_to_url(struct bus_fixture *e, const char *url, const char *user,
    const char *password, struct states *s)
{
	struct bus_opts o = { .loop = e->loop,
		.url = url,
		.name = "named \"so\" \\ too",
		.user = user,
		.password = password,
		.on_state = s != NULL ? on_state : NULL,
		.arg = s };
	struct bus *b = NULL;

	ck_assert_int_eq(bus_new(&o, &b), RC_OK);
	return b;
}

TEST(everything_works_after_the_server_restarts)
{
	struct bus_fixture e;
	struct bus_fixture_reply a;
	struct states st = { 0 };
	struct bus *b;
	int served = 0, round;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "t.echo", bus_fixture_on_echo, &served);
	b = bus_to_url(&e, e.nats.url, NULL, NULL, &st);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_up, b);
	for (round = 1; round <= 3; round++) {
		ck_assert_int_eq(
		    bus_fixture_call(&e, b, "t.echo", "1", &a), RC_OK);
		tk_server_stop(&e.nats, SIGKILL);
		BUS_FIXTURE_WAIT(&e, bus_fixture_is_down, e.bus);
		BUS_FIXTURE_WAIT(&e, bus_fixture_is_down, b);
		ck_assert_int_eq(st.downs, round);
		ck_assert_int_eq(
		    bus_fixture_gauge(&e, "soul_bus_connected"), 0);
		tk_server_restart(&e.nats);
		BUS_FIXTURE_WAIT(&e, bus_fixture_is_up, e.bus);
		BUS_FIXTURE_WAIT(&e, bus_fixture_is_up, b);
		ck_assert_int_eq(st.ups, round + 1);
		/* The very first request after it is up is served. */
		ck_assert_int_eq(
		    bus_fixture_call(&e, b, "t.echo", "2", &a), RC_OK);
		ck_assert_str_eq(a.body, "2");
		ck_assert_int_eq(
		    bus_fixture_counter(&e, "soul_bus_reconnects_total"),
		    round);
	}
	ck_assert_int_eq(served, 6);
	bus_free(b);
	bus_fixture_stop(&e);
}

static void
on_count(void *arg, struct bus_msg *m)
{
	++*(int *)arg;
	bus_msg_free(m);
}

TEST(sends_while_down_are_rejected_and_never_arrive)
{
	struct bus_fixture e;
	struct bus_fixture_reply a;
	struct bus_meta meta;
	int n = 0, i;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "t.count", on_count, &n);
	tk_server_stop(&e.nats, SIGKILL);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_down, e.bus);
	meta = (struct bus_meta){ .deadline = bus_fixture_in_ms(60000) };
	for (i = 0; i < 100; i++) {
		ck_assert_int_eq(
		    bus_publish(e.bus, "t.count", STR("x"), NULL), RC_DOWN);
		ck_assert_int_eq(
		    bus_request(e.bus, "t.count", STR("x"), &meta,
			(struct bus_reply_handler){
			    .fn = bus_fixture_on_reply, .arg = &a },
			NULL),
		    RC_DOWN);
	}
	tk_server_restart(&e.nats);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_up, e.bus);
	ck_assert_int_eq(bus_publish(e.bus, "t.count", STR("x"), NULL), RC_OK);
	ck_assert_int_eq(
	    bus_fixture_call(&e, e.bus, "t.unserved", "", &a), RC_NOENT);
	ck_assert_int_eq(n, 1);
	bus_fixture_stop(&e);
}

/* Between the kill and its detection by the bus, messages may fail or be lost,
 * but must not arrive after the restart. */
TEST(sends_into_a_broken_connection_never_arrive_later)
{
	struct bus_fixture e;
	struct bus_fixture_reply a;
	int n = 0, i;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "t.count", on_count, &n);
	tk_server_stop(&e.nats, SIGKILL);
	for (i = 0; i < 1000; i++)
		if (bus_publish(e.bus, "t.count", STR("x"), NULL) != RC_OK)
			break;
	tk_server_restart(&e.nats);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_down, e.bus);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_up, e.bus);
	ck_assert_int_eq(
	    bus_fixture_call(&e, e.bus, "t.unserved", "", &a), RC_NOENT);
	ck_assert_int_eq(n, 0);
	bus_fixture_stop(&e);
}

static void
on_hold(void *arg, struct bus_msg *m)
{
	*(struct bus_msg **)arg = m;
}

static bool
is_held(void *arg)
{
	return *(struct bus_msg **)arg != NULL;
}

TEST(pending_requests_fail_fast_on_disconnect)
{
	struct bus_fixture e;
	struct bus_fixture_reply a[20];
	struct bus_msg *held = NULL;
	struct mono killed;
	int i;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "t.silent", on_hold, &held);
	ck_assert_int_eq(
	    bus_fixture_request(e.bus, "t.silent", STR("x"), 60000, &a[0]),
	    RC_OK);
	BUS_FIXTURE_WAIT(&e, is_held, &held);
	for (i = 1; i < 20; i++)
		ck_assert_int_eq(bus_fixture_request(
				     e.bus, "t.other", STR("x"), 60000, &a[i]),
		    RC_OK);
	tk_server_stop(&e.nats, SIGKILL);
	killed = clock_mono();
	for (i = 0; i < 20; i++)
		BUS_FIXTURE_WAIT(&e, bus_fixture_is_replied, &a[i]);
	ck_assert_int_eq(a[0].rc, RC_DOWN);
	ck_assert(a[0].absent);
	ck_assert_int_lt(mono_diff_ms(a[0].at, killed), 1000);
	for (i = 0; i < 20; i++)
		ck_assert_int_eq(a[i].calls, 1);
	/* The requester's inbox no longer exists, so the reply is lost. */
	ck_assert_int_eq(bus_reply(held, STR("late")), RC_DOWN);
	bus_fixture_stop(&e);
}

TEST(a_reply_from_before_a_disconnect_is_ignored)
{
	struct bus_fixture e;
	struct bus_fixture_reply a;
	struct bus_msg *held = NULL, *old;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "t.silent", on_hold, &held);
	ck_assert_int_eq(
	    bus_fixture_request(e.bus, "t.silent", STR("x"), 60000, &a), RC_OK);
	BUS_FIXTURE_WAIT(&e, is_held, &held);
	old = held;
	held = NULL;
	tk_server_stop(&e.nats, SIGKILL);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_replied, &a);
	tk_server_restart(&e.nats);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_up, e.bus);
	ck_assert_int_eq(
	    bus_fixture_request(e.bus, "t.silent", STR("x"), 60000, &a), RC_OK);
	BUS_FIXTURE_WAIT(&e, is_held, &held);
	ck_assert_int_eq(bus_reply(old, STR("old")), RC_OK);
	ck_assert_int_eq(bus_reply(held, STR("new")), RC_OK);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_replied, &a);
	ck_assert_str_eq(a.body, "new");
	bus_fixture_stop(&e);
}

TEST(a_bus_may_start_before_its_server)
{
	struct bus_fixture e;
	struct bus *early;
	struct states st = { 0 };
	struct bus_fixture_reply a;
	struct mono start;
	int served = 0;

	bus_fixture_start(&e);
	tk_server_stop(&e.nats, SIGKILL);
	start = clock_mono();
	early = bus_to_url(&e, e.nats.url, NULL, NULL, &st);
	ck_assert_int_lt(mono_diff_ms(clock_mono(), start), 500);
	bus_fixture_serve(early, "t.echo", bus_fixture_on_echo, &served);
	ck_assert_int_eq(bus_publish(early, "t.x", STR(""), NULL), RC_DOWN);
	ck_assert(!bus_fixture_until(&e, bus_fixture_is_up, early, 300));
	ck_assert_int_eq(st.ups + st.downs, 0);
	tk_server_restart(&e.nats);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_up, early);
	ck_assert_int_eq(bus_fixture_call(&e, early, "t.echo", "x", &a), RC_OK);
	bus_free(early);
	/* Freed while still connecting, to a server that never existed. */
	tk_server_stop(&e.nats, SIGTERM);
	early = bus_to_url(&e, e.nats.url, NULL, NULL, NULL);
	bus_fixture_serve(early, "t.echo", bus_fixture_on_echo, &served);
	bus_free(early);
	bus_fixture_stop(&e);
}

TEST(invalid_urls_are_rejected)
{
	static const char *const bad[] = { "", "127.0.0.1:4222", "http://x",
		"nats://", "nats://:4222", "nats://h:0", "nats://h:65536",
		"nats://h:x", "nats://h,", "nats://h x", "nats://h\nx" };
	struct bus_fixture e;
	struct bus *b = NULL;
	size_t i;

	bus_fixture_start(&e);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_int_eq(
		    bus_new(&(struct bus_opts){ .loop = e.loop, .url = bad[i] },
			&b),
		    RC_INVALID);
	ck_assert_ptr_null(b);
	bus_fixture_stop(&e);
}

TEST(a_live_server_is_found_among_several)
{
	struct bus_fixture e;
	struct bus *b;
	char url[256];

	bus_fixture_start(&e);
	snprintf(
	    url, sizeof(url), "nats://127.0.0.1:%d, %s", tk_port(), e.nats.url);
	b = bus_to_url(&e, url, NULL, NULL, NULL);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_up, b);
	bus_free(b);
	bus_fixture_stop(&e);
}

/* A nats-server of the test's own, with a user and a password. */
static void
password_server_start(struct tk_proc *p, int port, const char *password)
{
	char text[512], where[16];
	const char *argv[] = { "nats-server", "-a", "127.0.0.1", "-p", where,
		"-c", tk_path("guarded.conf"), NULL };

	snprintf(where, sizeof(where), "%d", port);
	snprintf(text, sizeof(text),
	    "authorization { user: soul, password: '%s' }\n", password);
	tk_write_file(tk_path("guarded.conf"), text);
	tk_spawn(p, "guarded", argv, NULL);
}

TEST(connecting_is_retried_until_the_password_is_right)
{
	static const char odd[] = "p\"w\\,{}";
	struct bus_fixture e;
	struct tk_proc p;
	struct states st = { 0 };
	struct bus_fixture_reply a;
	struct bus *b;
	char url[64];
	int port = tk_port();

	bus_fixture_start(&e);
	snprintf(url, sizeof(url), "nats://127.0.0.1:%d", port);
	password_server_start(&p, port, "other");
	b = bus_to_url(&e, url, "soul", odd, &st);
	ck_assert(!bus_fixture_until(&e, bus_fixture_is_up, b, 1500));
	ck_assert_int_eq(st.ups, 0);
	tk_signal(&p, SIGKILL);
	ck_assert_int_eq(tk_wait(&p, BUS_FIXTURE_MS), 128 + SIGKILL);
	password_server_start(&p, port, odd);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_up, b);
	ck_assert_int_eq(
	    bus_fixture_call(&e, b, "t.unserved", "", &a), RC_NOENT);
	bus_free(b);
	tk_signal(&p, SIGKILL);
	ck_assert_int_eq(tk_wait(&p, BUS_FIXTURE_MS), 128 + SIGKILL);
	bus_fixture_stop(&e);
}

/* ---- a server that does not speak NATS ---- */

struct false_server {
	int fd;
	const char *info; /* sent before it disconnects; NULL: nothing */
	atomic_int accepted;
	atomic_bool end;
	pthread_t thread;
};

static void *
false_server_main(void *arg)
{
	struct false_server *f = arg;
	int fd;

	while (!atomic_load(&f->end)) {
		fd = accept(f->fd, NULL, NULL);
		if (fd < 0)
			break;
		atomic_fetch_add(&f->accepted, 1);
		if (f->info != NULL)
			(void)!write(fd, f->info, strlen(f->info));
		close(fd);
	}
	return NULL;
}

static int
false_server_start(struct false_server *f)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(sa);

	f->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(f->fd, 0);
	ck_assert_int_eq(bind(f->fd, (struct sockaddr *)&sa, n), 0);
	ck_assert_int_eq(listen(f->fd, 8), 0);
	ck_assert_int_eq(getsockname(f->fd, (struct sockaddr *)&sa, &n), 0);
	ck_assert_int_eq(
	    pthread_create(&f->thread, NULL, false_server_main, f), 0);
	return ntohs(sa.sin_port);
}

static void
false_server_stop(struct false_server *f)
{
	atomic_store(&f->end, true);
	shutdown(f->fd, SHUT_RDWR);
	ck_assert_int_eq(pthread_join(f->thread, NULL), 0);
	close(f->fd);
}

TEST(a_server_that_is_not_nats_is_retried_with_backoff)
{
	static const char *const greetings[] = { NULL,
		"HTTP/1.1 200 OK\r\n\r\n",
		"INFO {\"server_id\":\"x\",\"max_payload\":1048576}\r\n" };
	struct bus_fixture e;
	struct bus *b;
	char url[64];
	size_t i;

	bus_fixture_start(&e);
	for (i = 0; i < sizeof(greetings) / sizeof(greetings[0]); i++) {
		struct false_server f = { .info = greetings[i] };

		snprintf(url, sizeof(url), "nats://127.0.0.1:%d",
		    false_server_start(&f));
		b = bus_to_url(&e, url, NULL, NULL, NULL);
		ck_assert(!bus_fixture_until(&e, bus_fixture_is_up, b, 1000));
		ck_assert_int_ge(atomic_load(&f.accepted), 2);
		ck_assert_int_lt(atomic_load(&f.accepted), 20);
		bus_free(b);
		false_server_stop(&f);
	}
	bus_fixture_stop(&e);
}
