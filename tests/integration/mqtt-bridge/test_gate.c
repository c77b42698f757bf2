/*
 * The broker plugin: it denies what mosquitto itself would allow, also after a
 * reload.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/auth.h"
#include "core/clock.h"
#include "core/mem.h"
#include "testkit/broker.h"
#include "testkit/broker_fixture.h"

#define MANY   20000
#define ROUNDS 20

static bool
gate_denied_all(void *arg)
{
	struct mqtt_device *d = arg;

	return atomic_load(&d->denied) >= MANY;
}

/* Milliseconds of an average round of the other terminal. */
static double
gate_round_ms(struct attack_fixture *s, const char *name)
{
	struct mono at = clock_mono();
	char request[32];

	for (int i = 0; i < ROUNDS; i++) {
		snprintf(request, sizeof(request), "%s-%d", name, i);
		attack_ck_other_works(s, request);
	}
	return (double)mono_diff_ns(clock_mono(), at) / 1e6 / ROUNDS;
}

/* If granted, shared subscriptions would slow down every message. */
TEST_T(foreign_subscriptions_are_denied_cheaply, 120)
{
	struct attack_fixture s;
	struct mqtt_device t1;
	char filter[64];
	double before, after;

	attack_start(&s);
	attack_connect(&t1, &s, "t1", s.k.bodies);
	before = gate_round_ms(&s, "before");
	for (int i = 0; i < MANY; i++) {
		snprintf(filter, sizeof(filter), "$share/%d/soul/#", i);
		ck_assert_int_eq(
		    mosquitto_subscribe(t1.mosq, NULL, filter, 1), 0);
	}
	attack_ck_other_works(&s, "r1");
	ck_assert(tk_until(gate_denied_all, &t1, BRIDGE_WAIT_MS));
	after = gate_round_ms(&s, "after");
	printf("# a round of the neighbour: %.1f ms, after %d subscriptions "
	       "%.1f ms\n",
	    before, MANY, after);
	ck_assert(tk_log_has(&s.k.proc,
	    "mosquitto-gate: body t1: SUBSCRIBE to a filter of others denied"));
	mqtt_device_close(&t1);
	attack_stop(&s);
}

static int
gate_count(struct mqtt_device *d, const char *what)
{
	char *received = mqtt_device_received(d);
	int n = 0;

	for (const char *p = received; (p = strstr(p, what)) != NULL; p++)
		n++;
	free(received);
	return n;
}

/* A burst of 300, then 100 for each second. */
TEST_T(messages_over_the_rate_are_denied, 60)
{
	struct attack_fixture s;
	struct mqtt_device t1;
	struct mono at;
	int n, most;

	attack_start(&s);
	attack_connect(&t1, &s, "t1", s.k.bodies);
	mosquitto_max_inflight_messages_set(t1.mosq, 1000);
	at = clock_mono();
	for (int i = 0; i < 5000; i++)
		mqtt_device_queue(
		    &t1, "soul/terminal/t1/heartbeat", STR("7"), MQTT_QOS1);
	mqtt_device_wait(&t1.acked, 5000);
	most = 300 + (int)(mono_diff_ms(clock_mono(), at) / 10) + 2;
	/* The other terminal publishes after all of it. */
	attack_barrier(&s, &s.t2);
	n = gate_count(&s.watcher, "t1/heartbeat=7");
	ck_assert_int_ge(n, 300);
	ck_assert_int_le(n, most);
	attack_ck_other_works(&s, "r1");
	ck_assert(
	    tk_log_has(&s.k.proc, "body t1: PUBLISH over its rate denied"));
	mqtt_device_close(&t1);
	attack_stop(&s);
}

TEST_T(large_messages_cost_more, 60)
{
	static char text[900000];
	struct attack_fixture s;
	struct mqtt_device t1;

	attack_start(&s);
	attack_connect(&t1, &s, "t1", s.k.bodies);
	memset(text, ' ', sizeof(text) - 1);
	memcpy(text, "large", 5);
	for (int i = 0; i < 60; i++)
		mqtt_device_publish(&t1, "soul/terminal/t1/skills",
		    (struct str){ text, sizeof(text) - 1 }, MQTT_QOS1);
	attack_barrier(&s, &s.t2);
	/* Each costs 14 messages; 60 cost 840. */
	ck_assert_int_ge(gate_count(&s.watcher, "skills=large"), 21);
	ck_assert_int_lt(gate_count(&s.watcher, "skills=large"), 60);
	attack_ck_other_works(&s, "r1");
	mqtt_device_close(&t1);
	attack_stop(&s);
}

/* Enough users that a reload takes a while and the next one overlaps. */
TEST_T(every_reload_takes_effect, 120)
{
	enum { USERS = 50000, RELOADS = 10 };
	char hash[AUTH_HASH_MAX], name[16];
	struct broker_fixture k;
	int before;

	broker_fixture_make(&k, 0);
	auth_secret_hash(STR(BROKER_PASSWORD), hash);
	for (int i = 0; i < USERS; i++)
		buf_printf(&k.admitted, "u%d:%s\n", i, hash);
	buf_putc(&k.admitted, '\0');
	broker_fixture_start(&k);
	before = broker_fixture_reload_count(&k);
	for (int i = 0; i < RELOADS; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		broker_fixture_admit(&k, name);
	}
	ck_assert_int_eq(broker_fixture_reload_count(&k), before + RELOADS);
	broker_fixture_stop(&k);
}

/* A reload makes mosquitto 2.0.11 lose max_qos. */
TEST_T(a_reload_does_not_weaken_the_gate, 60)
{
	struct attack_fixture s;
	struct mqtt_device t1;

	attack_start(&s);
	/* Admitting a terminal has reloaded it. */
	ck_assert(tk_log_has(&s.k.proc, "Reloading config"));
	attack_connect(&t1, &s, "t1", s.k.bodies);
	ck_assert(!attack_subscribe(&t1, "#"));
	ck_assert(!attack_subscribe(&t1, "$share/x/soul/#"));
	attack_must_subscribe(&t1, "soul/terminal/t1/#");
	mqtt_device_publish(&t1, "soul/terminal/t1/result/two", STR("of QoS 2"),
	    (struct mqtt_flags){ 2, false });
	attack_barrier(&s, &t1);
	mqtt_device_ck_never(&s.watcher, "of QoS 2");
	attack_ck_other_works(&s, "r1");
	mqtt_device_close(&t1);
	attack_stop(&s);
}

/* A broker that retained them would send each to every new bridge. */
TEST_T(retained_results_and_long_ids_are_denied, 60)
{
	static const struct mqtt_flags plain = { 1, false },
				       retained = { 1, true };
	char leaf[400];
	struct attack_fixture s;
	struct mqtt_device t1, service;
	size_t i, n;

	attack_start(&s);
	attack_connect(&t1, &s, "t1", s.k.bodies);
	mqtt_device_send(&t1, "result/kept", "to be retained", retained);
	mqtt_device_send(&t1, "result/kept", "", retained);
	for (i = 0; i < 3; i++) {
		/* The longest id has 128 bytes. */
		n = (size_t)snprintf(leaf, sizeof(leaf), "result/");
		memset(leaf + n, 'a', 128 + i);
		leaf[n + 128 + i] = '\0';
		mqtt_device_send(
		    &t1, leaf, i == 0 ? "of 128" : "of more", plain);
	}
	attack_barrier(&s, &t1);
	mqtt_device_expect(&s.watcher, "of 128");
	mqtt_device_ck_never(&s.watcher, "to be retained");
	mqtt_device_ck_never(&s.watcher, "of more");
	ck_assert(tk_log_has(
	    &s.k.proc, "body t1: PUBLISH of a retained result denied"));
	attack_connect(&service, &s, "mqtt-bridge", s.k.services);
	attack_must_subscribe(&service, "soul/terminal/t1/result/+");
	mqtt_device_send(&t1, "result/end", "the end", plain);
	mqtt_device_expect(&service, "the end");
	mqtt_device_ck_never(&service, "kept");
	attack_ck_other_works(&s, "r1");
	mqtt_device_close(&service);
	mqtt_device_close(&t1);
	attack_stop(&s);
}

TEST_T(a_retained_result_as_a_will_is_dropped, 60)
{
	struct attack_fixture s;
	struct mqtt_device t1;

	attack_start(&s);
	mqtt_device_init(&t1, TOPIC_PREFIX, "t1");
	mosquitto_username_pw_set(t1.mosq, "t1", BROKER_PASSWORD);
	ck_assert_int_eq(
	    mosquitto_will_set(
		t1.mosq, "soul/terminal/t1/result/w", 8, "the will", 1, true),
	    0);
	mqtt_device_connect(&t1, &s.b);
	mqtt_device_crash(&t1);
	attack_connect(&t1, &s, "t1", s.k.bodies);
	attack_barrier(&s, &t1);
	mqtt_device_ck_never(&s.watcher, "the will");
	mqtt_device_close(&t1);
	attack_stop(&s);
}

/* Retained results as left by a broker without this plugin. */
static void
gate_fill_store(struct attack_fixture *s)
{
	static const char head[] = "soul/terminal/t1/result/";
	char topic[4009];
	struct mqtt_device service;

	memset(topic, 'a', sizeof(topic) - 1);
	memcpy(topic, head, sizeof(head) - 1);
	/* Just too long for a line of mosquitto's log. */
	topic[4006] = ' ';
	topic[4008] = '\0';
	attack_connect(&service, s, "mqtt-bridge", s->k.services);
	mqtt_device_publish(&service, topic, STR("too long"), MQTT_RETAINED);
	mqtt_device_publish(
	    &service, "soul/terminal/t1/result/r0", STR("old"), MQTT_RETAINED);
	mqtt_device_close(&service);
	tk_signal(&s->k.proc, SIGTERM);
	ck_assert_int_ne(tk_wait(&s->k.proc, BRIDGE_WAIT_MS), -1);
	broker_fixture_start(&s->k);
	attack_connect(&service, s, "mqtt-bridge", s->k.services);
	attack_must_subscribe(&service, "soul/terminal/t1/result/+");
	mqtt_device_expect(&service, "=too long kept");
	mqtt_device_expect(&service, "=old kept");
	mqtt_device_close(&service);
}

static bool
gate_cleared_both(void *arg)
{
	struct attack_fixture *s = arg;

	return tk_service_metric(
		   &s->b.bridge[0], "soul_bridge_cleared_total") >= 2;
}

TEST_T(old_retained_results_are_cleared, 60)
{
	struct attack_fixture s = { 0 };
	struct mqtt_device service;

	broker_fixture_make(&s.k, 0);
	broker_fixture_start(&s.k);
	broker_fixture_admit(&s.k, "t2");
	broker_fixture_bridge(&s.k, &s.b);
	s.b.strict = true;
	gate_fill_store(&s);
	bridge_fixture_start_leader(&s.b, 0);
	ck_assert(tk_until(gate_cleared_both, &s, BRIDGE_WAIT_MS));
	attack_connect(&s.t2, &s, "t2", s.k.bodies);
	mqtt_device_subscribe(&s.t2);
	mqtt_device_report(&s.t2, "online", "online");
	bridge_ck_present(&s.b, "t2");
	attack_ck_other_works(&s, "r1");
	attack_connect(&service, &s, "mqtt-bridge", s.k.services);
	attack_must_subscribe(&service, "soul/terminal/+/result/+");
	attack_ck_other_works(&s, "r2");
	mqtt_device_expect(&service, "result/r2=");
	mqtt_device_ck_never(&service, "kept");
	mqtt_device_close(&service);
	mqtt_device_close(&s.t2);
	bridge_fixture_stop(&s.b);
	broker_fixture_stop(&s.k);
}

/* The broker does not start, and its log says what to do. */
TEST_T(wrong_plugin_options_stop_the_broker, 60)
{
	static const struct {
		const char *options, *error;
	} cases[] = {
		{ "", "set plugin_opt_acl_file, the same file as acl_file" },
		{ "plugin_opt_acl_file /nowhere\n",
		    "/nowhere: cannot be read" },
		{ "plugin_opt_acl_file /dev/null\n",
		    "/dev/null: has no \"pattern read\"" },
		{ "plugin_opt_acl_file deploy/mosquitto.acl\n"
		  "plugin_opt_per_s 0\n",
		    "plugin_opt_per_s: use a number from 1 to 1000000" },
		{ "plugin_opt_acl_file deploy/mosquitto.acl\n"
		  "plugin_opt_rate 5\n",
		    "no such setting: plugin_opt_rate; use acl_file, per_s, "
		    "burst" },
	};

	for (size_t i = 0; i < NELEM(cases); i++) {
		const char *v[] = { "mosquitto", "-c", tk_path("m.conf"),
			NULL };
		struct buf b = BUF_INIT(4096);
		struct tk_proc p;
		char name[16];

		buf_printf(&b,
		    "log_dest stderr\nuser root\nlistener %d 127.0.0.1\n"
		    "plugin %s\n%s",
		    tk_port(), tk_broker_gate(), cases[i].options);
		tk_write_file(tk_path("m.conf"), b.p);
		snprintf(name, sizeof(name), "broker-%zu", i);
		tk_spawn(&p, name, v, NULL);
		ck_assert_int_ne(tk_wait(&p, BRIDGE_WAIT_MS), 0);
		ck_assert_msg(
		    tk_log_has(&p, cases[i].error), "%s", cases[i].error);
		buf_free(&b);
	}
}
