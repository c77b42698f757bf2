/*
 * What waits on a connection: messages that the server sent before it closed,
 * and output to a server that is always a little behind.
 */
#include <linux/sockios.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/ioctl.h>

#include "core/mem.h"
#include "testkit/bus_fixture.h"
#include "testkit/raw_server.h"

static const char greeting[] =
    "INFO {\"server_id\":\"x\",\"max_payload\":1048576,\"headers\":true}\r\n";

/* The number of times that text has part. */
static size_t
count_of(struct str text, const char *part)
{
	size_t n = 0;
	ptrdiff_t at;

	while ((at = str_find(text, str_of(part))) >= 0) {
		n++;
		text.p += (size_t)at + strlen(part);
		text.n -= (size_t)at + strlen(part);
	}
	return n;
}

/*
 * Greet a client and reply to its pings: of the handshake, and of the
 * subscriptions that it has by then.  What it sent is in b.
 */
static bool
greet(int fd, struct buf *b)
{
	size_t ponged = 0, n;
	char bytes[4096];
	ssize_t got;

	if (!raw_server_write(fd, greeting))
		return false;
	while (ponged < 2) {
		got = recv(fd, bytes, sizeof(bytes), 0);
		if (got <= 0)
			return false;
		buf_put(b, bytes, (size_t)got);
		for (n = count_of(buf_str(b), "PING\r\n"); ponged < n; ponged++)
			if (!raw_server_write(fd, "PONG\r\n"))
				return false;
	}
	return true;
}

static struct bus *
bus_to_raw(struct loop *l, const struct raw_server *p,
    void (*on_state)(void *arg, bool up), void *arg)
{
	struct bus_opts o = {
		.loop = l, .name = "test", .on_state = on_state, .arg = arg
	};
	struct bus *b;
	char url[64];

	snprintf(url, sizeof(url), "nats://127.0.0.1:%d", p->port);
	o.url = url;
	ck_assert_int_eq(bus_new(&o, &b), RC_OK);
	return b;
}

/* ---- a server that has closed ---- */

#define LAST_MESSAGES 100
/* Written at once, not at the end of the iteration. */
#define REPLY_BYTES ((size_t)512 * 1024)

static atomic_int connections;
static sem_t may_send;
static atomic_bool has_closed;

static bool
has_arrived(void *arg)
{
	int n = -1;

	return ioctl(*(int *)arg, SIOCOUTQ, &n) == 0 && n == 0;
}

static bool
server_has_closed(void *arg)
{
	(void)arg;
	return atomic_load(&has_closed);
}

/* To the subscription that the client made; b is what it sent. */
static void
send_last_messages(int fd, const struct buf *b)
{
	const char *sub = strstr(b->p, "SUB t.last ");
	struct buf out = BUF_INIT(65536);
	int i;

	for (i = 0; i < LAST_MESSAGES && sub != NULL; i++)
		buf_printf(&out, "MSG t.last %llu 1\r\nx\r\n",
		    strtoull(sub + 11, NULL, 10));
	(void)raw_server_write(fd, out.p);
	(void)tk_until(has_arrived, &fd, BUS_FIXTURE_MS);
	buf_free(&out);
}

/* The first client gets them and then a reset, later ones only that. */
static void
serve_last_messages(struct raw_server *p, int fd)
{
	static const struct sockaddr nowhere = { .sa_family = AF_UNSPEC };
	struct buf b = BUF_INIT(65536);

	(void)p;
	if (atomic_fetch_add(&connections, 1) == 0 && greet(fd, &b)) {
		while (sem_wait(&may_send) != 0)
			continue;
		send_last_messages(fd, &b);
	}
	(void)connect(fd, &nowhere, sizeof(nowhere));
	atomic_store(&has_closed, true);
	buf_free(&b);
}

struct last_messages {
	struct bus *bus;
	char *reply;
	int n, at_down, at_drained; /* messages; when it was down, drained */
};

static void
on_last_drained(void *arg)
{
	struct last_messages *t = arg;

	t->at_drained = t->n;
}

/* Nothing can be sent any more, nor a ping that would end the drain. */
static void
on_last_message(void *arg, struct bus_msg *m)
{
	struct last_messages *t = arg;

	t->n++;
	ck_assert_int_eq(bus_publish(t->bus, "t.reply",
			     (struct str){ t->reply, REPLY_BYTES }, NULL),
	    RC_DOWN);
	if (t->n == LAST_MESSAGES / 2)
		bus_drain(t->bus, on_last_drained, t);
	bus_msg_free(m);
}

static void
on_last_state(void *arg, bool up)
{
	struct last_messages *t = arg;

	if (!up)
		t->at_down = t->n;
}

static bool
last_is_drained(void *arg)
{
	return ((struct last_messages *)arg)->at_drained > 0;
}

TEST(messages_sent_before_a_close_are_handled)
{
	struct last_messages t = { .reply = mem_zalloc(REPLY_BYTES) };
	struct loop *l = loop_new(64);
	struct raw_server p;

	ck_assert_int_eq(sem_init(&may_send, 0, 0), 0);
	raw_server_open(&p, serve_last_messages);
	t.bus = bus_to_raw(l, &p, on_last_state, &t);
	bus_fixture_serve(t.bus, "t.last", on_last_message, &t);
	ck_assert(tk_loop_until(l, bus_fixture_is_up, t.bus, BUS_FIXTURE_MS));
	/* The loop does not run until the reset has arrived, too. */
	ck_assert_int_eq(sem_post(&may_send), 0);
	ck_assert(tk_until(server_has_closed, NULL, BUS_FIXTURE_MS));
	ck_assert(tk_loop_until(l, last_is_drained, &t, BUS_FIXTURE_MS));
	ck_assert_int_eq(t.n, LAST_MESSAGES);
	ck_assert_int_eq(t.at_down, LAST_MESSAGES);
	ck_assert_int_eq(t.at_drained, LAST_MESSAGES);
	bus_free(t.bus);
	raw_server_close(&p);
	loop_free(l);
	free(t.reply);
}

/* ---- a server that is a little behind ---- */

/* More than the buffers of the kernel, less than BUS_OUTPUT_MAX. */
#define BEHIND_BYTES ((size_t)12 * 1024 * 1024)
#define TOTAL_BYTES  ((size_t)80 * 1024 * 1024)
#define STEP_BYTES   ((size_t)512 * 1024)

static sem_t may_read; /* a step each */
static atomic_size_t has_read;

static void
serve_behind(struct raw_server *p, int fd)
{
	struct buf b = BUF_INIT(65536);
	char *bytes = mem_alloc(STEP_BYTES);
	ssize_t n = 1;

	if (greet(fd, &b))
		while (n > 0 && !p->stop) {
			while (sem_wait(&may_read) != 0)
				continue;
			n = recv(fd, bytes, STEP_BYTES, MSG_WAITALL);
			if (n > 0)
				atomic_fetch_add(&has_read, (size_t)n);
		}
	buf_free(&b);
	free(bytes);
}

static bool
has_read_so_far(void *arg)
{
	return atomic_load(&has_read) >= *(size_t *)arg;
}

static void
on_behind_state(void *arg, bool up)
{
	*(int *)arg += !up;
}

TEST_T(a_server_that_is_always_a_little_behind_stays_connected, 60)
{
	struct loop *l = loop_new(64);
	struct raw_server p;
	struct bus *b;
	char *bytes = mem_zalloc(STEP_BYTES);
	size_t sent = 0, allowed = 0;
	int small = 16384, downs = 0;

	ck_assert_int_eq(sem_init(&may_read, 0, 0), 0);
	raw_server_open(&p, serve_behind);
	ck_assert_int_eq(setsockopt(p.listener, SOL_SOCKET, SO_RCVBUF, &small,
			     sizeof(small)),
	    0);
	b = bus_to_raw(l, &p, on_behind_state, &downs);
	ck_assert(tk_loop_until(l, bus_fixture_is_up, b, BUS_FIXTURE_MS));
	while (sent < TOTAL_BYTES) {
		ck_assert_int_eq(bus_publish(b, "t.big",
				     (struct str){ bytes, STEP_BYTES }, NULL),
		    RC_OK);
		sent += STEP_BYTES;
		if (sent <= BEHIND_BYTES)
			continue;
		ck_assert_int_eq(sem_post(&may_read), 0);
		allowed += STEP_BYTES;
		ck_assert(tk_loop_until(
		    l, has_read_so_far, &allowed, BUS_FIXTURE_MS));
	}
	ck_assert_int_eq(downs, 0);
	/* Everything arrives. */
	while (allowed < sent) {
		ck_assert_int_eq(sem_post(&may_read), 0);
		allowed += STEP_BYTES;
	}
	ck_assert(tk_loop_until(l, has_read_so_far, &sent, BUS_FIXTURE_MS));
	ck_assert_int_eq(downs, 0);
	p.stop = true;
	ck_assert_int_eq(sem_post(&may_read), 0);
	bus_free(b);
	raw_server_close(&p);
	loop_free(l);
	free(bytes);
}
