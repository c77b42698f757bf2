/* What clients do while the broker is killed, hung, or refuses them. */
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "integration/mqtt/rig.h"

TEST(broker_comes_later)
{
	struct cl a;
	struct rig r;
	int port = tk_port();

	rig_bare(&r);
	snprintf(
	    r.broker.url, sizeof(r.broker.url), "mqtt://localhost:%d", port);
	cl_init(&a, &r, "a");
	cl_start(&a);
	/* Made before there is a connection, sent when there is one. */
	ck_assert_int_eq(
	    mqtt_subscribe(a.m, STR("t"), 1, cl_on_subscribed, &a), RC_OK);
	ck_assert_int_eq(cl_send(&a, "t", "early", 1), RC_DOWN);
	tk_loop_once(r.loop);
	r.broker.kind = TK_MOSQUITTO;
	r.broker.port = port;
	tk_server_restart(&r.broker);
	cl_wait_up(&a);
	cl_wait(&a, &a.subscribed, 1);
	ck_assert_int_eq(cl_send(&a, "t", "now", 1), RC_OK);
	cl_wait(&a, &a.messages, 1);
	cl_expect(&a, "t=now 1;");
	cl_end(&a);
	rig_end(&r);
}

TEST(kill_and_restart)
{
	struct cl a, b;
	struct rig r;

	rig_start(&r);
	cl_open(&a, &r, "a");
	cl_open(&b, &r, "b");
	cl_subscribe(&b, "t/#", 1);
	cl_subscribe(&b, "u", 0);
	for (int round = 1; round <= 3; round++) {
		tk_server_stop(&r.broker, SIGKILL);
		cl_wait_down(&a);
		cl_wait_down(&b);
		ck_assert_int_eq(cl_send(&a, "t/1", "stale", 1), RC_DOWN);
		ck_assert_int_eq(cl_send(&a, "t/1", "stale", 0), RC_DOWN);
		ck_assert_uint_eq(mqtt_outstanding(a.m), 0);
		tk_server_restart(&r.broker);
		cl_wait_up(&a);
		cl_wait(&b, &b.subscribed, 2 + 2 * round);
		ck_assert_int_eq(cl_send(&a, "t/1", "one", 1), RC_OK);
		ck_assert_int_eq(cl_send(&a, "u", "two", 1), RC_OK);
		cl_wait(&b, &b.messages, 2);
		cl_expect(&b, "t/1=one 1;u=two 0;");
		ck_assert_int_eq(b.downs, round);
		ck_assert_int_eq(b.ups, round + 1);
	}
	ck_assert_int_eq(a.dones[RC_OK] + a.dones[RC_NOENT], a.done);
	cl_end(&a);
	cl_end(&b);
	rig_end(&r);
}

/*
 * Messages are on the wire, and others wait for the window, when the broker is
 * killed.  None of them may come out of the library afterwards.
 */
TEST(outstanding_are_not_sent_again)
{
	struct cl a, b;
	struct rig r;
	int i;

	rig_start(&r);
	cl_open(&a, &r, "a");
	cl_open(&b, &r, "b");
	cl_subscribe(&b, "#", 1);
	tk_signal(&r.broker.proc, SIGSTOP);
	for (i = 0; i < 250; i++)
		ck_assert_int_eq(cl_send(&a, "t", "stale", 1), RC_OK);
	tk_loop_once(r.loop);
	ck_assert_int_eq(a.done, 0);
	ck_assert_uint_eq(mqtt_outstanding(a.m), 250);
	tk_server_stop(&r.broker, SIGKILL);
	cl_wait(&a, &a.done, 250);
	ck_assert_int_eq(a.dones[RC_TIMEOUT], MQTT_INFLIGHT_MAX);
	ck_assert_int_eq(a.dones[RC_DOWN], 250 - MQTT_INFLIGHT_MAX);
	ck_assert_uint_eq(mqtt_outstanding(a.m), 0);

	tk_server_restart(&r.broker);
	cl_wait_up(&a);
	cl_wait(&b, &b.subscribed, 2);
	ck_assert_int_eq(cl_send(&a, "t", "fence", 1), RC_OK);
	cl_wait(&b, &b.messages, 1);
	cl_wait(&a, &a.done, 251);
	cl_expect(&b, "t=fence 1;");
	cl_end(&a);
	cl_end(&b);
	rig_end(&r);
}

/* RC_DOWN is certain, also when the broker lives on. */
TEST(what_waited_is_never_delivered)
{
	struct cl a, b;
	struct rig r;
	int i;

	rig_start(&r);
	cl_open(&a, &r, "a");
	cl_open(&b, &r, "b");
	cl_subscribe(&b, "#", 1);
	for (i = 0; i < 1000; i++)
		ck_assert_int_eq(cl_send(&a, "t", "x", 1), RC_OK);
	mqtt_break(a.m);
	ck_assert(!mqtt_up(a.m));
	ck_assert_int_eq(a.done, 0);
	ck_assert_int_eq(cl_send(&a, "t", "x", 1), RC_DOWN);
	cl_wait(&a, &a.done, 1000);
	ck_assert_int_eq(a.dones[RC_TIMEOUT], MQTT_INFLIGHT_MAX);
	ck_assert_int_eq(a.dones[RC_DOWN], 1000 - MQTT_INFLIGHT_MAX);
	cl_wait_up(&a);
	ck_assert_int_eq(cl_send(&a, "end", "", 1), RC_OK);
	cl_wait(&a, &a.done, 1001);
	ck_assert(tk_loop_until(
	    r.loop, cl_reached, &(struct cl_count){ &b.messages, 1 }, RIG_MS));
	/* Unknown means between none and all of those. */
	ck_assert_int_le(b.messages, 1 + MQTT_INFLIGHT_MAX);
	cl_end(&a);
	cl_end(&b);
	rig_end(&r);
}

/* ---- wills --------------------------------------------------------------- */

/* In a process of its own, which ends by a signal. */
static void
live_with_will(const struct rig *r, const struct mqtt_msg *will)
{
	struct mqtt_msg birth = { STR("birth"), STR("1"), 0, true };
	struct rig own = { .broker = r->broker, .loop = loop_new(8) };
	struct cl c;

	cl_init(&c, &own, "mortal");
	c.o.will = will;
	cl_start(&c);
	cl_wait_up(&c);
	if (mqtt_publish(c.m, &birth, NULL, NULL) != RC_OK)
		abort();
	loop_run(own.loop);
}

TEST(will_of_a_killed_process)
{
	struct mqtt_msg will = { STR("online"), STR("false"), 1, true };
	struct cl b, late;
	struct rig r;
	pid_t pid;

	rig_start(&r);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		live_with_will(&r, &will);
		_exit(0);
	}
	cl_open(&b, &r, "b");
	cl_subscribe(&b, "#", 1);
	cl_wait(&b, &b.messages, 1);
	buf_reset(&b.got);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	cl_wait(&b, &b.messages, 2);
	cl_expect(&b, "online=false 1;");
	cl_open(&late, &r, "late");
	cl_subscribe(&late, "online", 1);
	cl_wait(&late, &late.messages, 1);
	cl_expect(&late, "online=false 1R;");
	cl_end(&late);
	cl_end(&b);
	rig_end(&r);
}

TEST(will_and_goodbye)
{
	struct mqtt_msg will = { STR("online"), STR("gone"), 1, false };
	struct cl a, b;
	struct rig r;

	rig_start(&r);
	cl_open(&b, &r, "b");
	cl_subscribe(&b, "#", 1);
	cl_init(&a, &r, "a");
	a.o.will = &will;
	cl_start(&a);
	cl_wait_up(&a);
	will.topic = STR("changed"); /* it was copied */
	mqtt_break(a.m);
	cl_wait(&b, &b.messages, 1);
	cl_expect(&b, "online=gone 1;");
	cl_wait_up(&a);
	ck_assert_int_eq(a.downs, 1);
	/* A goodbye: no will. */
	cl_end(&a);
	cl_open(&a, &r, "a");
	ck_assert_int_eq(cl_send(&a, "fence", "", 1), RC_OK);
	cl_wait(&b, &b.messages, 1);
	cl_expect(&b, "fence= 1;");
	cl_end(&a);
	cl_end(&b);
	rig_end(&r);
}

/* ---- being freed, being thrown out --------------------------------------- */

static void
free_on_down(void *arg, bool up)
{
	struct cl *c = arg;

	if (up) {
		c->ups++;
		return;
	}
	c->downs++;
	mqtt_free(c->m);
	c->m = NULL;
}

static bool
is_gone(void *arg)
{
	return ((struct cl *)arg)->m == NULL;
}

TEST(freed_when_the_connection_is_lost)
{
	struct cl a;
	struct rig r;
	int i;

	rig_start(&r);
	cl_init(&a, &r, "a");
	a.o.on_state = free_on_down;
	cl_start(&a);
	cl_wait_up(&a);
	tk_signal(&r.broker.proc, SIGSTOP);
	for (i = 0; i < 5; i++)
		ck_assert_int_eq(cl_send(&a, "t", "x", 1), RC_OK);
	tk_server_stop(&r.broker, SIGKILL);
	ck_assert(tk_loop_until(r.loop, is_gone, &a, RIG_MS));
	ck_assert_int_eq(a.dones[RC_TIMEOUT], 5);
	ck_assert_int_eq(a.downs, 1);
	cl_end(&a);
	rig_end(&r);
}

/* A completion that frees the client: the others are completed all the same. */
static void
free_on_done(void *arg, enum rc rc, unsigned reason)
{
	struct cl *c = arg;
	struct mqtt *m = c->m;

	(void)reason;
	c->dones[rc]++;
	c->m = NULL;
	mqtt_free(m);
}

TEST(freed_by_a_completion)
{
	struct mqtt_msg msg = { STR("t"), STR("x"), 1, false };
	struct cl a;
	struct rig r;
	int i;

	rig_start(&r);
	cl_open(&a, &r, "a");
	tk_signal(&r.broker.proc, SIGSTOP);
	for (i = 0; i < 150; i++)
		ck_assert_int_eq(
		    mqtt_publish(a.m, &msg, free_on_done, &a), RC_OK);
	tk_signal(&r.broker.proc, SIGCONT);
	ck_assert(tk_loop_until(r.loop, is_gone, &a, RIG_MS));
	/* Some answers may have come together with the first. */
	ck_assert_int_ge(a.dones[RC_NOENT], 1);
	ck_assert_int_eq(
	    a.dones[RC_NOENT] + a.dones[RC_TIMEOUT], MQTT_INFLIGHT_MAX);
	ck_assert_int_eq(a.dones[RC_DOWN], 150 - MQTT_INFLIGHT_MAX);
	cl_end(&a);
	rig_end(&r);
}

TEST(freed_at_any_time)
{
	struct cl a;
	struct rig r;
	int i;

	rig_start(&r);
	for (i = 0; i < 60; i++) {
		cl_init(&a, &r, NULL);
		if (i % 3 == 0)
			a.o.url = "mqtt://a..b:1"; /* not resolvable */
		cl_start(&a);
		for (int turns = i % 5; turns > 0; turns--)
			tk_loop_once(r.loop);
		cl_end(&a);
	}
	mqtt_free(NULL);
	rig_end(&r);
}

TEST(one_id_twice)
{
	struct cl a, b;
	struct rig r;

	rig_start(&r);
	cl_init(&a, &r, "same");
	a.o.retry_max_ms = 60;
	cl_start(&a);
	cl_wait_up(&a);
	cl_init(&b, &r, "same");
	b.o.retry_max_ms = 60;
	cl_start(&b);
	/* They throw each other out; neither hangs nor spins. */
	cl_wait(&a, &a.downs, 3);
	cl_wait(&b, &b.downs, 3);
	cl_end(&b);
	cl_wait_up(&a);
	cl_end(&a);
	rig_end(&r);
}

/* The broker says goodbye, as it does when it is stopped. */
TEST(broker_stops)
{
	struct cl a, old;
	struct rig r;

	rig_start(&r);
	cl_open(&a, &r, "a");
	cl_init(&old, &r, "old");
	old.o.version = 3;
	cl_start(&old);
	cl_wait_up(&old);
	tk_server_stop(&r.broker, SIGTERM);
	cl_wait_down(&a);
	cl_wait_down(&old);
	tk_server_restart(&r.broker);
	cl_wait_up(&a);
	cl_wait_up(&old);
	cl_end(&a);
	cl_end(&old);
	rig_end(&r);
}
