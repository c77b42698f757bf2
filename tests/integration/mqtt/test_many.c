/* Many messages and many clients. */
#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>

#include "core/clock.h"
#include "testkit/fake_broker.h"

/* ---- backlog ---- */

static int64_t
cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* CPU time for n messages queued while the broker is stopped. */
static int64_t
backlog_us(struct mqtt_fixture_client *a, int n)
{
	int64_t start;
	int i;

	a->done = 0;
	tk_signal(&a->fixture->broker.proc, SIGSTOP);
	start = cpu_us();
	for (i = 0; i < n; i++)
		ck_assert_int_eq(mqtt_client_send(a, "t", "payload", 1), RC_OK);
	ck_assert_uint_eq(mqtt_outstanding(a->m), (size_t)n);
	tk_signal(&a->fixture->broker.proc, SIGCONT);
	mqtt_client_wait(a, &a->done, n);
	return cpu_us() - start;
}

/*
 * Four times the backlog may not cost much more than four times the work; a
 * linear search for each message would cost sixteen times.
 */
TEST_T(a_backlog_is_sent_in_linear_time, 60)
{
	int64_t small, big;
	struct mqtt_fixture_client a;
	struct mqtt_fixture r;

	mqtt_fixture_start(&r);
	mqtt_client_open(&a, &r, "a");
	(void)backlog_us(&a, 1000);
	small = backlog_us(&a, MQTT_OUTSTANDING_MAX / 4);
	big = backlog_us(&a, MQTT_OUTSTANDING_MAX);
	ck_assert_msg(big < 9 * small, "%lld us for %d, %lld us for %d",
	    (long long)small, MQTT_OUTSTANDING_MAX / 4, (long long)big,
	    MQTT_OUTSTANDING_MAX);
	ck_assert_int_eq(a.downs, 0);
	mqtt_client_end(&a);
	mqtt_fixture_end(&r);
}

TEST(outstanding_publishes_are_limited)
{
	char *mib = mem_zalloc(MQTT_PAYLOAD_MAX);
	struct mqtt_msg m = { STR("t"), { mib, MQTT_PAYLOAD_MAX }, 1, false };
	struct mqtt_fixture_client a;
	struct mqtt_fixture r;
	int i, n;

	mqtt_fixture_start(&r);
	mqtt_client_open(&a, &r, "a");
	tk_signal(&r.broker.proc, SIGSTOP);
	for (i = 0; i < MQTT_OUTSTANDING_MAX; i++)
		ck_assert_int_eq(mqtt_client_send(&a, "t", "x", 1), RC_OK);
	ck_assert_int_eq(mqtt_client_send(&a, "t", "x", 1), RC_RETRY);
	ck_assert_int_eq(mqtt_client_send(&a, "t", "x", 0), RC_RETRY);
	tk_signal(&r.broker.proc, SIGCONT);
	mqtt_client_wait(&a, &a.done, MQTT_OUTSTANDING_MAX);
	ck_assert_int_eq(a.dones[RC_NOENT], MQTT_OUTSTANDING_MAX);

	/* The same by bytes, and with QoS 0. */
	tk_signal(&r.broker.proc, SIGSTOP);
	for (n = 0; mqtt_publish(a.m, &m, mqtt_client_on_done, &a) == RC_OK;
	     n++)
		ck_assert_int_le(n, 64);
	ck_assert_int_eq(n, 64);
	m.qos = 0;
	ck_assert_int_eq(mqtt_publish(a.m, &m, NULL, NULL), RC_RETRY);
	tk_signal(&r.broker.proc, SIGCONT);
	mqtt_client_wait(&a, &a.done, MQTT_OUTSTANDING_MAX + 64);
	free(mib);
	mqtt_client_end(&a);
	mqtt_fixture_end(&r);
}

TEST(qos0_is_queued_while_the_socket_is_full)
{
	static char kib[1024];
	struct mqtt_msg m = { STR("t"), { kib, sizeof(kib) }, 0, false };
	struct mqtt_fixture_client a, b;
	struct mqtt_fixture r;
	enum rc rc;
	int n = 0;

	mqtt_fixture_start(&r);
	mqtt_client_open(&a, &r, "a");
	mqtt_client_open(&b, &r, "b");
	mqtt_client_subscribe(&b, "#", 0);
	tk_signal(&r.broker.proc, SIGSTOP);
	while ((rc = mqtt_publish(a.m, &m, NULL, NULL)) == RC_OK)
		n++;
	ck_assert_int_eq(rc, RC_RETRY);
	ck_assert_uint_eq(mqtt_outstanding(a.m), MQTT_OUTSTANDING_MAX);
	tk_signal(&r.broker.proc, SIGCONT);
	mqtt_client_wait(&b, &b.messages, n);
	ck_assert_int_eq(b.messages, n);
	ck_assert_uint_eq(mqtt_outstanding(a.m), 0);
	mqtt_client_end(&a);
	mqtt_client_end(&b);
	mqtt_fixture_end(&r);
}

/*
 * Packet ids wrap around while one message is unacknowledged: its PUBACK must
 * not be attributed to another.
 */
static void
serve_no_pubacks(struct fake_broker *f, int fd)
{
	FAKE_BROKER_SEND(fd, CONNACK_OK);
	fake_broker_drain(f, fd);
}

static bool
all_written(void *arg)
{
	return mqtt_outstanding(arg) <= 1;
}

TEST(packet_ids_wrap_around_an_unacknowledged_one)
{
	struct fake_broker f;
	struct mqtt_fixture_client a;
	enum rc rc = RC_OK;
	int n;

	fake_broker_start(&f, serve_no_pubacks);
	mqtt_client_open(&a, &f.fixture, "a");
	ck_assert_int_eq(mqtt_client_send(&a, "t", "first", 1), RC_OK);
	for (n = 0; n < 70000; n++) {
		rc = mqtt_client_send(&a, "t", "", 0);
		if (rc != RC_OK)
			break;
		if (n % 10000 == 9999)
			ck_assert(tk_loop_until(
			    f.fixture.loop, all_written, a.m, MQTT_FIXTURE_MS));
	}
	ck_assert_int_eq(rc, RC_RETRY);
	ck_assert_int_gt(n, 50000);
	ck_assert_int_eq(a.done, 0);
	mqtt_break(a.m);
	mqtt_client_wait(&a, &a.done, 1);
	ck_assert_int_eq(a.dones[RC_TIMEOUT], 1);
	mqtt_client_end(&a);
	fake_broker_end(&f);
}

/*
 * libmosquitto writes a byte per packet to a socket pair that is never read; it
 * must not take 200 KiB of kernel memory per client.
 */
static int
unread_bytes(void)
{
	int fd, domain, queued, sum = 0;
	socklen_t n;

	for (fd = 0; fd < 256; fd++) {
		n = sizeof(domain);
		if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &n) == 0 &&
		    domain == AF_UNIX && ioctl(fd, SIOCOUTQ, &queued) == 0)
			sum += queued;
	}
	return sum;
}

TEST(the_socket_pair_of_libmosquitto_stays_small)
{
	struct mqtt_fixture_client a;
	struct mqtt_fixture r;

	mqtt_fixture_start(&r);
	mqtt_client_open(&a, &r, "a");
	for (int i = 1; i <= 1000; i++) {
		ck_assert_int_eq(mqtt_client_send(&a, "t", "x", 1), RC_OK);
		if (i % 50 == 0)
			mqtt_client_wait(&a, &a.done, i);
	}
	ck_assert_int_gt(unread_bytes(), 0);
	ck_assert_int_lt(unread_bytes(), 16384);
	mqtt_client_end(&a);
	ck_assert_int_eq(unread_bytes(), 0);
	mqtt_fixture_end(&r);
}

static int
open_fds(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

TEST(a_lean_client_uses_one_descriptor)
{
	struct rlimit before, after;
	struct mqtt_fixture_client a, b;
	struct mqtt_fixture r;
	int n;

	mqtt_fixture_start(&r);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	mqtt_client_open(&a, &r, "a");
	n = open_fds();
	mqtt_client_init(&b, &r, "b");
	b.o.lean = true;
	mqtt_client_start(&b);
	mqtt_client_wait_up(&b);
	ck_assert_int_eq(open_fds(), n + 1);
	mqtt_client_subscribe(&b, "#", 1);
	for (int i = 0; i < 1000; i++) {
		ck_assert_int_eq(mqtt_client_send(&b, "t", "x", 1), RC_OK);
		ck_assert_int_eq(mqtt_client_send(&a, "t", "y", 0), RC_OK);
	}
	mqtt_client_wait(&b, &b.messages, 2000);
	mqtt_break(b.m);
	mqtt_client_wait_down(&b);
	mqtt_client_wait_up(&b);
	ck_assert_int_eq(open_fds(), n + 1);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &after), 0);
	ck_assert_uint_eq(after.rlim_cur, before.rlim_cur);
	mqtt_client_end(&b);
	ck_assert_int_eq(open_fds(), n);
	mqtt_client_end(&a);
	mqtt_fixture_end(&r);
}

/* ---- clients ---- */

#define CLIENTS 500

struct clients {
	struct mqtt_fixture_client c[CLIENTS];
	bool (*each)(struct mqtt_fixture_client *c);
};

static bool
every(void *arg)
{
	struct clients *clients = arg;

	for (int i = 0; i < CLIENTS; i++)
		if (!clients->each(&clients->c[i]))
			return false;
	return true;
}

static bool
is_subscribed(struct mqtt_fixture_client *c)
{
	return mqtt_up(c->m) && c->subscribed == c->ups;
}

static bool
has_one(struct mqtt_fixture_client *c)
{
	return c->messages == 1;
}

static bool
wait_every(struct clients *clients, bool (*each)(struct mqtt_fixture_client *c))
{
	clients->each = each;
	return tk_loop_until(
	    clients->c[0].fixture->loop, every, clients, 60000);
}

static void
one_each(struct clients *clients, struct mqtt_fixture_client *sender)
{
	char topic[32], want[64];
	int i;

	for (i = 0; i < CLIENTS; i++) {
		snprintf(topic, sizeof(topic), "client/%d", i);
		ck_assert_int_eq(
		    mqtt_client_send(sender, topic, topic, 1), RC_OK);
	}
	ck_assert(wait_every(clients, has_one));
	for (i = 0; i < CLIENTS; i++) {
		snprintf(want, sizeof(want), "client/%d=client/%d 1;", i, i);
		mqtt_client_expect(&clients->c[i], want);
	}
}

TEST_T(five_hundred_clients_survive_a_killed_broker, 120)
{
	static struct clients clients;
	struct rlimit lim = { 4096, 4096 };
	struct mqtt_fixture_client sender;
	struct mqtt_fixture r;
	char text[32];
	int i;

	/* libmosquitto takes three descriptors a client, and the broker one. */
	(void)setrlimit(RLIMIT_NOFILE, &lim);
	mqtt_fixture_start(&r);
	for (i = 0; i < CLIENTS; i++) {
		mqtt_client_init(&clients.c[i], &r, NULL);
		mqtt_client_start(&clients.c[i]);
		snprintf(text, sizeof(text), "client/%d", i);
		ck_assert_int_eq(mqtt_subscribe(clients.c[i].m, str_of(text), 1,
				     mqtt_client_on_subscribed, &clients.c[i]),
		    RC_OK);
	}
	ck_assert(wait_every(&clients, is_subscribed));
	mqtt_client_open(&sender, &r, "sender");
	one_each(&clients, &sender);
	ck_assert_int_eq(
	    metric_value(metric_gauge(r.metrics, "mqtt_clients_up", "", NULL)),
	    CLIENTS + 1);

	/* The same after the broker was killed. */
	tk_server_stop(&r.broker, SIGKILL);
	mqtt_client_wait_down(&sender);
	tk_server_restart(&r.broker);
	ck_assert(wait_every(&clients, is_subscribed));
	mqtt_client_wait_up(&sender);
	one_each(&clients, &sender);
	for (i = 0; i < CLIENTS; i++)
		mqtt_client_end(&clients.c[i]);
	mqtt_client_end(&sender);
	ck_assert_int_eq(
	    metric_value(metric_gauge(r.metrics, "mqtt_clients_up", "", NULL)),
	    0);
	ck_assert_int_eq(
	    metric_value(metric_gauge(r.metrics, "mqtt_outstanding", "", NULL)),
	    0);
	mqtt_fixture_end(&r);
}
