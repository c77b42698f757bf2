/* Reading is paused: nothing is lost, and the connection stays. */
#include "core/clock.h"
#include "testkit/mqtt_fixture.h"

#define MESSAGES 300
/*
 * With a keepalive of 5 s the broker disconnects a client after 7.5 s without a
 * packet, and the library one without a response to its ping after 10 s.
 */
#define KEEPALIVE_S 5
#define PAUSE_MS    12000
/* Two checks of the keepalive. */
#define CHECKS_MS 2500

static bool
pause_is_over(void *arg)
{
	const struct mono *end = arg;

	return mono_diff_ns(clock_mono(), *end) >= 0;
}

/* Publish, from number on, until the broker has acknowledged all. */
static void
pause_publish(struct mqtt_fixture_client *c, int number)
{
	char text[16];
	int i, done = c->done;

	for (i = 0; i < MESSAGES; i++) {
		snprintf(text, sizeof(text), "%d", number + i);
		ck_assert_int_eq(mqtt_client_send(c, "t", text, 1), RC_OK);
	}
	mqtt_client_wait(c, &c->done, done + MESSAGES);
}

static void
pause_expect(struct mqtt_fixture_client *c, int messages)
{
	struct buf want = BUF_INIT(1024 * 1024);
	int i;

	mqtt_client_wait(c, &c->messages, messages);
	for (i = 0; i < messages; i++)
		buf_printf(&want, "t=%d 1;", i);
	ck_assert(str_eq(buf_str(&want), buf_str(&c->got)));
	buf_free(&want);
}

TEST_T(a_paused_client_stays_connected, 90)
{
	struct mqtt_fixture_client a, b;
	struct mqtt_fixture r;
	struct mono end;

	mqtt_fixture_start(&r);
	mqtt_client_open(&a, &r, "a");
	mqtt_client_init(&b, &r, "b");
	b.o.keepalive_s = KEEPALIVE_S;
	mqtt_client_start(&b);
	mqtt_client_wait_up(&b);
	mqtt_client_subscribe(&b, "t", 1);
	mqtt_pause(b.m);
	pause_publish(&a, 0);
	end = mono_add_ms(clock_mono(), PAUSE_MS);
	ck_assert(tk_loop_until(r.loop, pause_is_over, &end, MQTT_FIXTURE_MS));
	ck_assert_int_eq(b.messages, 0);
	/* What it publishes is sent; the acknowledgement waits. */
	ck_assert_int_eq(mqtt_client_send(&b, "u", "x", 1), RC_OK);
	mqtt_resume(b.m);
	mqtt_client_wait(&b, &b.done, 1);
	ck_assert_int_eq(b.dones[RC_NOENT], 1);
	pause_expect(&b, MESSAGES);
	/* The keepalive is the usual one again. */
	end = mono_add_ms(clock_mono(), CHECKS_MS);
	ck_assert(tk_loop_until(r.loop, pause_is_over, &end, MQTT_FIXTURE_MS));
	ck_assert_int_eq(b.ups, 1);
	ck_assert_int_eq(b.downs, 0);
	pause_publish(&a, MESSAGES);
	pause_expect(&b, 2 * MESSAGES);
	mqtt_client_end(&a);
	mqtt_client_end(&b);
	mqtt_fixture_end(&r);
}

/* Its subscriptions are sent, but what is retained arrives later. */
TEST(a_client_reconnects_while_it_is_paused)
{
	struct mqtt_fixture_client a, b;
	struct mqtt_fixture r;

	mqtt_fixture_start(&r);
	mqtt_client_open(&a, &r, "a");
	mqtt_client_subscribe(&a, "u", 1);
	mqtt_client_open(&b, &r, "b");
	mqtt_client_subscribe(&b, "t", 1);
	mqtt_pause(b.m);
	mqtt_break(b.m);
	mqtt_client_wait(&b, &b.ups, 2);
	/* The broker has its SUBSCRIBE before this. */
	ck_assert_int_eq(mqtt_client_send(&b, "u", "x", 1), RC_OK);
	mqtt_client_wait(&a, &a.messages, 1);
	pause_publish(&a, 0);
	ck_assert_int_eq(b.messages, 0);
	ck_assert_int_eq(b.subscribed, 1);
	mqtt_resume(b.m);
	mqtt_resume(b.m);
	mqtt_client_wait(&b, &b.subscribed, 2);
	pause_expect(&b, MESSAGES);
	mqtt_client_end(&a);
	mqtt_client_end(&b);
	mqtt_fixture_end(&r);
}
