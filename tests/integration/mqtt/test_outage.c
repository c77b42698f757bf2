/* Brokers that are killed, hang, or disconnect clients. */
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testkit/mqtt_fixture.h"

TEST(a_client_connects_when_the_broker_starts_later)
{
	struct mqtt_fixture_client a;
	struct mqtt_fixture r;
	int port = tk_port();

	mqtt_fixture_init(&r);
	snprintf(
	    r.broker.url, sizeof(r.broker.url), "mqtt://localhost:%d", port);
	mqtt_client_init(&a, &r, "a");
	mqtt_client_start(&a);
	/* Subscribed before there is a connection, sent when there is. */
	ck_assert_int_eq(
	    mqtt_subscribe(a.m, STR("t"), 1, mqtt_client_on_subscribed, &a),
	    RC_OK);
	ck_assert_int_eq(mqtt_client_send(&a, "t", "early", 1), RC_DOWN);
	tk_loop_step(r.loop);
	r.broker.kind = TK_MOSQUITTO;
	r.broker.port = port;
	tk_server_restart(&r.broker);
	mqtt_client_wait_up(&a);
	mqtt_client_wait(&a, &a.subscribed, 1);
	ck_assert_int_eq(mqtt_client_send(&a, "t", "now", 1), RC_OK);
	mqtt_client_wait(&a, &a.messages, 1);
	mqtt_client_expect(&a, "t=now 1;");
	mqtt_client_end(&a);
	mqtt_fixture_end(&r);
}

TEST(clients_reconnect_after_a_killed_broker)
{
	struct mqtt_fixture_client a, b;
	struct mqtt_fixture r;

	mqtt_fixture_start(&r);
	mqtt_client_open(&a, &r, "a");
	mqtt_client_open(&b, &r, "b");
	mqtt_client_subscribe(&b, "t/#", 1);
	mqtt_client_subscribe(&b, "u", 0);
	for (int round = 1; round <= 3; round++) {
		tk_server_stop(&r.broker, SIGKILL);
		mqtt_client_wait_down(&a);
		mqtt_client_wait_down(&b);
		ck_assert_int_eq(
		    mqtt_client_send(&a, "t/1", "stale", 1), RC_DOWN);
		ck_assert_int_eq(
		    mqtt_client_send(&a, "t/1", "stale", 0), RC_DOWN);
		ck_assert_uint_eq(mqtt_outstanding(a.m), 0);
		tk_server_restart(&r.broker);
		mqtt_client_wait_up(&a);
		mqtt_client_wait(&b, &b.subscribed, 2 + 2 * round);
		ck_assert_int_eq(mqtt_client_send(&a, "t/1", "one", 1), RC_OK);
		ck_assert_int_eq(mqtt_client_send(&a, "u", "two", 1), RC_OK);
		mqtt_client_wait(&b, &b.messages, 2);
		mqtt_client_expect(&b, "t/1=one 1;u=two 0;");
		ck_assert_int_eq(b.downs, round);
		ck_assert_int_eq(b.ups, round + 1);
	}
	ck_assert_int_eq(a.dones[RC_OK] + a.dones[RC_NOENT], a.done);
	mqtt_client_end(&a);
	mqtt_client_end(&b);
	mqtt_fixture_end(&r);
}

/*
 * Some messages are sent and others queued when the broker is killed.  None of
 * them may be sent afterwards.
 */
TEST(outstanding_messages_are_not_resent)
{
	struct mqtt_fixture_client a, b;
	struct mqtt_fixture r;
	int i;

	mqtt_fixture_start(&r);
	mqtt_client_open(&a, &r, "a");
	mqtt_client_open(&b, &r, "b");
	mqtt_client_subscribe(&b, "#", 1);
	tk_signal(&r.broker.proc, SIGSTOP);
	for (i = 0; i < 250; i++)
		ck_assert_int_eq(mqtt_client_send(&a, "t", "stale", 1), RC_OK);
	tk_loop_step(r.loop);
	ck_assert_int_eq(a.done, 0);
	ck_assert_uint_eq(mqtt_outstanding(a.m), 250);
	tk_server_stop(&r.broker, SIGKILL);
	mqtt_client_wait(&a, &a.done, 250);
	ck_assert_int_eq(a.dones[RC_TIMEOUT], MQTT_INFLIGHT_MAX);
	ck_assert_int_eq(a.dones[RC_DOWN], 250 - MQTT_INFLIGHT_MAX);
	ck_assert_uint_eq(mqtt_outstanding(a.m), 0);

	tk_server_restart(&r.broker);
	mqtt_client_wait_up(&a);
	mqtt_client_wait(&b, &b.subscribed, 2);
	ck_assert_int_eq(mqtt_client_send(&a, "t", "fence", 1), RC_OK);
	mqtt_client_wait(&b, &b.messages, 1);
	mqtt_client_wait(&a, &a.done, 251);
	mqtt_client_expect(&b, "t=fence 1;");
	mqtt_client_end(&a);
	mqtt_client_end(&b);
	mqtt_fixture_end(&r);
}

/* RC_DOWN is certain, also when the broker is still running. */
TEST(queued_messages_fail_with_the_connection)
{
	struct mqtt_fixture_client a, b;
	struct mqtt_fixture r;
	int i;

	mqtt_fixture_start(&r);
	mqtt_client_open(&a, &r, "a");
	mqtt_client_open(&b, &r, "b");
	mqtt_client_subscribe(&b, "#", 1);
	for (i = 0; i < 1000; i++)
		ck_assert_int_eq(mqtt_client_send(&a, "t", "x", 1), RC_OK);
	mqtt_break(a.m);
	ck_assert(!mqtt_up(a.m));
	ck_assert_int_eq(a.done, 0);
	ck_assert_int_eq(mqtt_client_send(&a, "t", "x", 1), RC_DOWN);
	mqtt_client_wait(&a, &a.done, 1000);
	ck_assert_int_eq(a.dones[RC_TIMEOUT], MQTT_INFLIGHT_MAX);
	ck_assert_int_eq(a.dones[RC_DOWN], 1000 - MQTT_INFLIGHT_MAX);
	mqtt_client_wait_up(&a);
	ck_assert_int_eq(mqtt_client_send(&a, "end", "", 1), RC_OK);
	mqtt_client_wait(&a, &a.done, 1001);
	mqtt_client_wait(&b, &b.messages, 1);
	/* RC_TIMEOUT means that any number of those may be delivered. */
	ck_assert_int_le(b.messages, 1 + MQTT_INFLIGHT_MAX);
	mqtt_client_end(&a);
	mqtt_client_end(&b);
	mqtt_fixture_end(&r);
}

/* ---- wills ---- */

/* Runs in a process that is killed. */
static void
live_with_will(const struct mqtt_fixture *r, const struct mqtt_msg *will)
{
	struct mqtt_msg birth = { STR("birth"), STR("1"), 0, true };
	struct mqtt_fixture own = { .broker = r->broker, .loop = loop_new(8) };
	struct mqtt_fixture_client c;

	mqtt_client_init(&c, &own, "mortal");
	c.o.will = will;
	mqtt_client_start(&c);
	mqtt_client_wait_up(&c);
	if (mqtt_publish(c.m, &birth, NULL, NULL) != RC_OK)
		abort();
	loop_run(own.loop);
}

TEST(the_will_of_a_killed_process_is_published)
{
	struct mqtt_msg will = { STR("online"), STR("false"), 1, true };
	struct mqtt_fixture_client b, late;
	struct mqtt_fixture r;
	pid_t pid;

	mqtt_fixture_start(&r);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		live_with_will(&r, &will);
		_exit(0);
	}
	mqtt_client_open(&b, &r, "b");
	mqtt_client_subscribe(&b, "#", 1);
	mqtt_client_wait(&b, &b.messages, 1);
	buf_reset(&b.got);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	mqtt_client_wait(&b, &b.messages, 2);
	mqtt_client_expect(&b, "online=false 1;");
	mqtt_client_open(&late, &r, "late");
	mqtt_client_subscribe(&late, "online", 1);
	mqtt_client_wait(&late, &late.messages, 1);
	mqtt_client_expect(&late, "online=false 1R;");
	mqtt_client_end(&late);
	mqtt_client_end(&b);
	mqtt_fixture_end(&r);
}

TEST(a_will_is_published_unless_the_client_disconnects)
{
	struct mqtt_msg will = { STR("online"), STR("gone"), 1, false };
	struct mqtt_fixture_client a, b;
	struct mqtt_fixture r;

	mqtt_fixture_start(&r);
	mqtt_client_open(&b, &r, "b");
	mqtt_client_subscribe(&b, "#", 1);
	mqtt_client_init(&a, &r, "a");
	a.o.will = &will;
	mqtt_client_start(&a);
	mqtt_client_wait_up(&a);
	will.topic = STR("changed"); /* it was copied */
	mqtt_break(a.m);
	mqtt_client_wait(&b, &b.messages, 1);
	mqtt_client_expect(&b, "online=gone 1;");
	mqtt_client_wait_up(&a);
	ck_assert_int_eq(a.downs, 1);
	/* After DISCONNECT there is no will. */
	mqtt_client_end(&a);
	mqtt_client_open(&a, &r, "a");
	ck_assert_int_eq(mqtt_client_send(&a, "fence", "", 1), RC_OK);
	mqtt_client_wait(&b, &b.messages, 1);
	mqtt_client_expect(&b, "fence= 1;");
	mqtt_client_end(&a);
	mqtt_client_end(&b);
	mqtt_fixture_end(&r);
}

/* ---- freed clients, closed connections ---- */

static void
free_on_down(void *arg, bool up)
{
	struct mqtt_fixture_client *c = arg;

	if (up) {
		c->ups++;
		return;
	}
	c->downs++;
	mqtt_free(c->m);
	c->m = NULL;
}

static bool
is_freed(void *arg)
{
	return ((struct mqtt_fixture_client *)arg)->m == NULL;
}

TEST(a_client_may_be_freed_when_the_connection_is_lost)
{
	struct mqtt_fixture_client a;
	struct mqtt_fixture r;
	int i;

	mqtt_fixture_start(&r);
	mqtt_client_init(&a, &r, "a");
	a.o.on_state = free_on_down;
	mqtt_client_start(&a);
	mqtt_client_wait_up(&a);
	tk_signal(&r.broker.proc, SIGSTOP);
	for (i = 0; i < 5; i++)
		ck_assert_int_eq(mqtt_client_send(&a, "t", "x", 1), RC_OK);
	tk_server_stop(&r.broker, SIGKILL);
	ck_assert(tk_loop_until(r.loop, is_freed, &a, MQTT_FIXTURE_MS));
	ck_assert_int_eq(a.dones[RC_TIMEOUT], 5);
	ck_assert_int_eq(a.downs, 1);
	mqtt_client_end(&a);
	mqtt_fixture_end(&r);
}

/* A completion that frees the client; the others are called as well. */
static void
free_on_done(void *arg, enum rc rc, unsigned reason)
{
	struct mqtt_fixture_client *c = arg;
	struct mqtt *m = c->m;

	(void)reason;
	c->dones[rc]++;
	c->m = NULL;
	mqtt_free(m);
}

TEST(a_client_may_be_freed_by_a_completion)
{
	struct mqtt_msg msg = { STR("t"), STR("x"), 1, false };
	struct mqtt_fixture_client a;
	struct mqtt_fixture r;
	int i;

	mqtt_fixture_start(&r);
	mqtt_client_open(&a, &r, "a");
	tk_signal(&r.broker.proc, SIGSTOP);
	for (i = 0; i < 150; i++)
		ck_assert_int_eq(
		    mqtt_publish(a.m, &msg, free_on_done, &a), RC_OK);
	tk_signal(&r.broker.proc, SIGCONT);
	ck_assert(tk_loop_until(r.loop, is_freed, &a, MQTT_FIXTURE_MS));
	/* Some acknowledgements may be read together with the first. */
	ck_assert_int_ge(a.dones[RC_NOENT], 1);
	ck_assert_int_eq(
	    a.dones[RC_NOENT] + a.dones[RC_TIMEOUT], MQTT_INFLIGHT_MAX);
	ck_assert_int_eq(a.dones[RC_DOWN], 150 - MQTT_INFLIGHT_MAX);
	mqtt_client_end(&a);
	mqtt_fixture_end(&r);
}

TEST(a_client_may_be_freed_at_any_time)
{
	struct mqtt_fixture_client a;
	struct mqtt_fixture r;
	int i;

	mqtt_fixture_start(&r);
	for (i = 0; i < 60; i++) {
		mqtt_client_init(&a, &r, NULL);
		if (i % 3 == 0)
			a.o.url = "mqtt://a..b:1"; /* not resolvable */
		mqtt_client_start(&a);
		for (int turns = i % 5; turns > 0; turns--)
			tk_loop_step(r.loop);
		mqtt_client_end(&a);
	}
	mqtt_free(NULL);
	mqtt_fixture_end(&r);
}

TEST(two_clients_with_one_id_back_off)
{
	struct mqtt_fixture_client a, b;
	struct mqtt_fixture r;

	mqtt_fixture_start(&r);
	mqtt_client_init(&a, &r, "same");
	a.o.retry_max_ms = 60;
	mqtt_client_start(&a);
	mqtt_client_wait_up(&a);
	mqtt_client_init(&b, &r, "same");
	b.o.retry_max_ms = 60;
	mqtt_client_start(&b);
	/* They disconnect each other; neither hangs nor spins. */
	mqtt_client_wait(&a, &a.downs, 3);
	mqtt_client_wait(&b, &b.downs, 3);
	mqtt_client_end(&b);
	mqtt_client_wait_up(&a);
	mqtt_client_end(&a);
	mqtt_fixture_end(&r);
}

TEST(a_stopping_broker_is_a_lost_connection)
{
	struct mqtt_fixture_client a, old;
	struct mqtt_fixture r;

	mqtt_fixture_start(&r);
	mqtt_client_open(&a, &r, "a");
	mqtt_client_init(&old, &r, "old");
	old.o.version = 3;
	mqtt_client_start(&old);
	mqtt_client_wait_up(&old);
	tk_server_stop(&r.broker, SIGTERM);
	mqtt_client_wait_down(&a);
	mqtt_client_wait_down(&old);
	tk_server_restart(&r.broker);
	mqtt_client_wait_up(&a);
	mqtt_client_wait_up(&old);
	mqtt_client_end(&a);
	mqtt_client_end(&old);
	mqtt_fixture_end(&r);
}
