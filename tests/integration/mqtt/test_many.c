/* Many messages, many clients, long silences. */
#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>

#include "core/clock.h"
#include "integration/mqtt/fake.h"

/* ---- backlog ------------------------------------------------------------- */

static int64_t
cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Processor time for n messages that piled up behind a stopped broker. */
static int64_t
backlog_us(struct cl *a, int n)
{
	int64_t start;
	int i;

	a->done = 0;
	tk_signal(&a->rig->broker.proc, SIGSTOP);
	start = cpu_us();
	for (i = 0; i < n; i++)
		ck_assert_int_eq(cl_send(a, "t", "payload", 1), RC_OK);
	ck_assert_uint_eq(mqtt_outstanding(a->m), (size_t)n);
	tk_signal(&a->rig->broker.proc, SIGCONT);
	cl_wait(a, &a->done, n);
	return cpu_us() - start;
}

/*
 * Four times the backlog may not cost much more than four times the work; a
 * list walked for each message would cost sixteen times.
 */
TEST_T(backlog_is_linear, 60)
{
	int64_t small, big;
	struct cl a;
	struct rig r;

	rig_start(&r);
	cl_open(&a, &r, "a");
	(void)backlog_us(&a, 1000);
	small = backlog_us(&a, MQTT_OUTSTANDING_MAX / 4);
	big = backlog_us(&a, MQTT_OUTSTANDING_MAX);
	ck_assert_msg(big < 9 * small, "%lld us for %d, %lld us for %d",
	    (long long)small, MQTT_OUTSTANDING_MAX / 4, (long long)big,
	    MQTT_OUTSTANDING_MAX);
	ck_assert_int_eq(a.downs, 0);
	cl_end(&a);
	rig_end(&r);
}

TEST(too_many_outstanding)
{
	char *mib = mem_zalloc(MQTT_PAYLOAD_MAX);
	struct mqtt_msg m = { STR("t"), { mib, MQTT_PAYLOAD_MAX }, 1, false };
	struct cl a;
	struct rig r;
	int i, n;

	rig_start(&r);
	cl_open(&a, &r, "a");
	tk_signal(&r.broker.proc, SIGSTOP);
	for (i = 0; i < MQTT_OUTSTANDING_MAX; i++)
		ck_assert_int_eq(cl_send(&a, "t", "x", 1), RC_OK);
	ck_assert_int_eq(cl_send(&a, "t", "x", 1), RC_RETRY);
	ck_assert_int_eq(cl_send(&a, "t", "x", 0), RC_RETRY);
	tk_signal(&r.broker.proc, SIGCONT);
	cl_wait(&a, &a.done, MQTT_OUTSTANDING_MAX);
	ck_assert_int_eq(a.dones[RC_NOENT], MQTT_OUTSTANDING_MAX);

	/* The same by bytes, and with QoS 0. */
	tk_signal(&r.broker.proc, SIGSTOP);
	for (n = 0; mqtt_publish(a.m, &m, cl_on_done, &a) == RC_OK; n++)
		ck_assert_int_le(n, 64);
	ck_assert_int_eq(n, 64);
	m.qos = 0;
	ck_assert_int_eq(mqtt_publish(a.m, &m, NULL, NULL), RC_RETRY);
	tk_signal(&r.broker.proc, SIGCONT);
	cl_wait(&a, &a.done, MQTT_OUTSTANDING_MAX + 64);
	free(mib);
	cl_end(&a);
	rig_end(&r);
}

/* What QoS 0 the socket does not take is queued, bounded, and delivered. */
TEST(slow_socket)
{
	static char kib[1024];
	struct mqtt_msg m = { STR("t"), { kib, sizeof(kib) }, 0, false };
	struct cl a, b;
	struct rig r;
	enum rc rc;
	int n = 0;

	rig_start(&r);
	cl_open(&a, &r, "a");
	cl_open(&b, &r, "b");
	cl_subscribe(&b, "#", 0);
	tk_signal(&r.broker.proc, SIGSTOP);
	while ((rc = mqtt_publish(a.m, &m, NULL, NULL)) == RC_OK)
		n++;
	ck_assert_int_eq(rc, RC_RETRY);
	ck_assert_uint_eq(mqtt_outstanding(a.m), MQTT_OUTSTANDING_MAX);
	tk_signal(&r.broker.proc, SIGCONT);
	cl_wait(&b, &b.messages, n);
	ck_assert_int_eq(b.messages, n);
	ck_assert_uint_eq(mqtt_outstanding(a.m), 0);
	cl_end(&a);
	cl_end(&b);
	rig_end(&r);
}

/*
 * Packet ids go round while one message is unanswered: its acknowledgement must
 * not be taken from another.
 */
static void
talk_never_first(struct fake *f, int fd)
{
	FAKE_SEND(fd, CONNACK_OK);
	fake_drain(f, fd);
}

static bool
all_written(void *arg)
{
	return mqtt_outstanding(arg) <= 1;
}

TEST(packet_ids_go_round)
{
	struct fake f;
	struct cl a;
	enum rc rc = RC_OK;
	int n;

	fake_start(&f, talk_never_first);
	cl_open(&a, &f.rig, "a");
	ck_assert_int_eq(cl_send(&a, "t", "first", 1), RC_OK);
	for (n = 0; n < 70000; n++) {
		rc = cl_send(&a, "t", "", 0);
		if (rc != RC_OK)
			break;
		if (n % 10000 == 9999)
			ck_assert(tk_loop_until(
			    f.rig.loop, all_written, a.m, RIG_MS));
	}
	ck_assert_int_eq(rc, RC_RETRY);
	ck_assert_int_gt(n, 50000);
	ck_assert_int_eq(a.done, 0);
	mqtt_break(a.m);
	cl_wait(&a, &a.done, 1);
	ck_assert_int_eq(a.dones[RC_TIMEOUT], 1);
	cl_end(&a);
	fake_end(&f);
}

/*
 * libmosquitto writes a byte per packet to a pair of sockets that nobody reads;
 * it must not hold 200 KiB of kernel memory for each client.
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

TEST(wake_up_pair_stays_small)
{
	struct cl a;
	struct rig r;

	rig_start(&r);
	cl_open(&a, &r, "a");
	for (int i = 1; i <= 1000; i++) {
		ck_assert_int_eq(cl_send(&a, "t", "x", 1), RC_OK);
		if (i % 50 == 0)
			cl_wait(&a, &a.done, i);
	}
	ck_assert_int_gt(unread_bytes(), 0);
	ck_assert_int_lt(unread_bytes(), 16384);
	cl_end(&a);
	ck_assert_int_eq(unread_bytes(), 0);
	rig_end(&r);
}

/* A lean client has its socket and nothing else. */
static int
open_fds(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

TEST(lean_clients_take_one_descriptor)
{
	struct rlimit before, after;
	struct cl a, b;
	struct rig r;
	int n;

	rig_start(&r);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	cl_open(&a, &r, "a");
	n = open_fds();
	cl_init(&b, &r, "b");
	b.o.lean = true;
	cl_start(&b);
	cl_wait_up(&b);
	ck_assert_int_eq(open_fds(), n + 1);
	cl_subscribe(&b, "#", 1);
	for (int i = 0; i < 1000; i++) {
		ck_assert_int_eq(cl_send(&b, "t", "x", 1), RC_OK);
		ck_assert_int_eq(cl_send(&a, "t", "y", 0), RC_OK);
	}
	cl_wait(&b, &b.messages, 2000);
	mqtt_break(b.m);
	cl_wait_down(&b);
	cl_wait_up(&b);
	ck_assert_int_eq(open_fds(), n + 1);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &after), 0);
	ck_assert_uint_eq(after.rlim_cur, before.rlim_cur);
	cl_end(&b);
	ck_assert_int_eq(open_fds(), n);
	cl_end(&a);
	rig_end(&r);
}

/* ---- clients ------------------------------------------------------------- */

#define CLIENTS 500

struct crowd {
	struct cl c[CLIENTS];
	bool (*each)(struct cl *c);
};

static bool
every(void *arg)
{
	struct crowd *crowd = arg;

	for (int i = 0; i < CLIENTS; i++)
		if (!crowd->each(&crowd->c[i]))
			return false;
	return true;
}

static bool
is_subscribed(struct cl *c)
{
	return mqtt_up(c->m) && c->subscribed == c->ups;
}

static bool
has_one(struct cl *c)
{
	return c->messages == 1;
}

static bool
wait_every(struct crowd *crowd, bool (*each)(struct cl *c))
{
	crowd->each = each;
	return tk_loop_until(crowd->c[0].rig->loop, every, crowd, 60000);
}

static void
one_each(struct crowd *crowd, struct cl *sender)
{
	char topic[32], want[64];
	int i;

	for (i = 0; i < CLIENTS; i++) {
		snprintf(topic, sizeof(topic), "client/%d", i);
		ck_assert_int_eq(cl_send(sender, topic, topic, 1), RC_OK);
	}
	ck_assert(wait_every(crowd, has_one));
	for (i = 0; i < CLIENTS; i++) {
		snprintf(want, sizeof(want), "client/%d=client/%d 1;", i, i);
		cl_expect(&crowd->c[i], want);
	}
}

TEST_T(five_hundred_clients, 120)
{
	static struct crowd crowd;
	struct rlimit lim = { 4096, 4096 };
	struct cl sender;
	struct rig r;
	char text[32];
	int i;

	/* libmosquitto takes three descriptors a client, and the broker one. */
	(void)setrlimit(RLIMIT_NOFILE, &lim);
	rig_start(&r);
	for (i = 0; i < CLIENTS; i++) {
		cl_init(&crowd.c[i], &r, NULL);
		cl_start(&crowd.c[i]);
		snprintf(text, sizeof(text), "client/%d", i);
		ck_assert_int_eq(mqtt_subscribe(crowd.c[i].m, str_of(text), 1,
				     cl_on_subscribed, &crowd.c[i]),
		    RC_OK);
	}
	ck_assert(wait_every(&crowd, is_subscribed));
	cl_open(&sender, &r, "sender");
	one_each(&crowd, &sender);
	ck_assert_int_eq(
	    metric_value(metric_gauge(r.metrics, "mqtt_clients_up", "", NULL)),
	    CLIENTS + 1);

	/* And again with a broker that was killed. */
	tk_server_stop(&r.broker, SIGKILL);
	cl_wait_down(&sender);
	tk_server_restart(&r.broker);
	ck_assert(wait_every(&crowd, is_subscribed));
	cl_wait_up(&sender);
	one_each(&crowd, &sender);
	for (i = 0; i < CLIENTS; i++)
		cl_end(&crowd.c[i]);
	cl_end(&sender);
	ck_assert_int_eq(
	    metric_value(metric_gauge(r.metrics, "mqtt_clients_up", "", NULL)),
	    0);
	ck_assert_int_eq(
	    metric_value(metric_gauge(r.metrics, "mqtt_outstanding", "", NULL)),
	    0);
	rig_end(&r);
}
