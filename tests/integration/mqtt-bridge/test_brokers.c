/*
 * Two brokers with a bridge each: a command that comes to the bridge of the
 * broker that its terminal has left is delivered by the other, a single time.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testkit/bridge_fixture.h"

#define INVOKE(id) \
	"{\"request_id\":\"" id "\",\"skill\":\"nod\",\"arguments\":{}}"

/* NATS and Redis are those of the first. */
struct brokers {
	struct bridge_fixture first, second;
};

static void
brokers_start(struct brokers *x)
{
	bridge_fixture_servers(&x->first, TK_MOSQUITTO);
	bridge_fixture_start_leader(&x->first, 0);
	x->second = x->first;
	memset(x->second.bridge, 0, sizeof(x->second.bridge));
	x->second.more = "BROKER_ID=second";
	tk_server_start(&x->second.mqtt, TK_MOSQUITTO);
	bridge_fixture_start_leader(&x->second, 0);
}

static void
brokers_stop(struct brokers *x)
{
	tk_service_end(&x->second.bridge[0]);
	bridge_fixture_stop(&x->first);
}

static bool
brokers_terminal_at(const struct terminal *t, const char *broker)
{
	return t->present && str_eq(t->broker, str_of(broker));
}

/* Connect t1 to the second broker, and wait until its record says so. */
static void
brokers_arrive(struct brokers *x, struct mqtt_device *d)
{
	mqtt_device_open(d, &x->second, "t1");
	mqtt_device_report(d, "online", "online");
	bridge_fixture_wait(&x->second, "t1", brokers_terminal_at, "second");
}

/* The bridge of the first broker has read what the terminal published there. */
static void
brokers_pass(struct brokers *x)
{
	struct mqtt_device other;

	mqtt_device_open_online(&other, &x->first, "other");
	mqtt_device_close(&other);
}

/* It was received, one time. */
static void
brokers_expect_one(struct mqtt_device *d, const char *text)
{
	char *received, *at;

	mqtt_device_expect(d, text);
	received = mqtt_device_received(d);
	at = strstr(received, text);
	ck_assert_ptr_nonnull(at);
	ck_assert_ptr_null(strstr(at + 1, text));
	free(received);
}

static void
brokers_ck_forwarded(struct brokers *x, const char *command, int n)
{
	char name[128];

	snprintf(name, sizeof(name),
	    "soul_bridge_commands_total{command=\"%s\",state=\"forwarded\"}",
	    command);
	ck_assert_int_eq(tk_service_metric(&x->first.bridge[0], name), n);
	ck_assert_int_eq(tk_service_metric(&x->second.bridge[0], name), 0);
}

/* The result comes by the second broker, where the command was delivered. */
static void
brokers_ck_commands(struct brokers *x, struct mqtt_device *d)
{
	natsSubscription *results =
	    tk_nats_listen(x->first.nc, "soul.result.t1.*");
	json_t *j;

	bridge_ck_delivery(&x->first, "t1.invoke", INVOKE("r1"), "delivered");
	brokers_expect_one(d, "invoke/r1=");
	mqtt_device_result(d, "r1", "{\"request_id\":\"r1\",\"ok\":true}");
	j = tk_nats_next(results, BRIDGE_WAIT_MS, NULL);
	ck_assert_str_eq(tk_find_text(j, "request_id"), "r1");
	json_decref(j);
	bridge_ck_delivery(&x->first, "t1.intent_action", ACTION, "delivered");
	brokers_expect_one(d, "intent_action=" ACTION "\n");
	brokers_ck_forwarded(x, "invoke", 1);
	brokers_ck_forwarded(x, "intent_action", 1);
	natsSubscription_Destroy(results);
}

TEST_T(a_command_follows_a_terminal_that_went_offline, 60)
{
	struct mqtt_device before, d;
	struct brokers x;

	brokers_start(&x);
	mqtt_device_open_online(&before, &x.first, "t1");
	bridge_ck_delivery(&x.first, "t1.invoke", INVOKE("r0"), "delivered");
	mqtt_device_expect(&before, "invoke/r0=");
	mqtt_device_crash(&before); /* publishes its will */
	brokers_arrive(&x, &d);
	brokers_pass(&x);
	brokers_ck_commands(&x, &d);
	/* Those without a reply, too. */
	tk_nats_send(x.first.nc, "soul.body.main.t1.status", STATUS);
	brokers_expect_one(&d, "status=" STATUS "\n");
	brokers_ck_forwarded(&x, "status", 1);
	mqtt_device_ck_never(&d, "invoke/r0=");
	mqtt_device_close(&d);
	brokers_stop(&x);
}

/* The broker may read a command before it reads that the terminal has left. */
static bool
brokers_terminal_has_left(void *arg)
{
	return strcmp(bridge_fixture_deliver(
			  arg, "soul.body.main.t1.intent_action", ACTION),
		   "no_subscriber") == 0;
}

/* Its bridge takes it for present, but nobody is subscribed. */
TEST_T(a_command_follows_a_terminal_that_left_without_a_will, 60)
{
	struct mqtt_device before, d;
	struct brokers x;

	brokers_start(&x);
	mqtt_device_open_online(&before, &x.first, "t1");
	mqtt_device_close(&before);
	ck_assert(
	    tk_until(brokers_terminal_has_left, &x.first, BRIDGE_WAIT_MS));
	brokers_arrive(&x, &d);
	brokers_ck_commands(&x, &d);
	/* And back. */
	mqtt_device_close(&d);
	mqtt_device_open(&d, &x.first, "t1");
	mqtt_device_report(&d, "online", "online");
	bridge_fixture_wait(&x.first, "t1", brokers_terminal_at, "main");
	bridge_ck_delivery(&x.first, "t1.intent_action", ACTION, "delivered");
	brokers_expect_one(&d, "intent_action=" ACTION "\n");
	brokers_ck_forwarded(&x, "intent_action", 1);
	mqtt_device_close(&d);
	brokers_stop(&x);
}

static bool
brokers_first_is_down(void *arg)
{
	return tk_service_metric(arg, "mqtt_clients_up") == 0;
}

/* It connects to the other, because its own is down. */
TEST_T(a_command_follows_a_terminal_whose_broker_died, 60)
{
	struct mqtt_device before, d;
	struct brokers x;

	brokers_start(&x);
	mqtt_device_open_online(&before, &x.first, "t1");
	tk_server_stop(&x.first.mqtt, SIGKILL);
	mqtt_device_crash(&before);
	ck_assert(tk_until(
	    brokers_first_is_down, &x.first.bridge[0], BRIDGE_WAIT_MS));
	/* Its record says that it is present at the first. */
	bridge_ck_delivery(&x.first, "t1.invoke", INVOKE("r0"), "unavailable");
	brokers_arrive(&x, &d);
	brokers_ck_commands(&x, &d);
	mqtt_device_close(&d);
	brokers_stop(&x);
}

static void
brokers_send_forwarded(struct brokers *x, const char *want)
{
	natsMsg *q = NULL, *m = NULL;
	json_t *j;

	ck_assert_int_eq(natsMsg_Create(&q, "soul.body.main.t1.invoke", NULL,
			     INVOKE("r9"), (int)strlen(INVOKE("r9"))),
	    NATS_OK);
	ck_assert_int_eq(natsMsgHeader_Set(q, "Soul-Forwarded", "1"), NATS_OK);
	ck_assert_int_eq(
	    natsConnection_RequestMsg(&m, x->first.nc, q, 10000), NATS_OK);
	j = tk_nats_json(m);
	ck_assert_str_eq(tk_find_text(j, "state"), want);
	json_decref(j);
	natsMsg_Destroy(q);
	natsMsg_Destroy(m);
}

/* What cannot be delivered is replied to at once, and is not passed around. */
TEST_T(a_command_is_forwarded_one_time, 60)
{
	struct mqtt_device before, d;
	struct brokers x;

	brokers_start(&x);
	mqtt_device_open_online(&before, &x.first, "t1");
	mqtt_device_crash(&before);
	brokers_arrive(&x, &d);
	brokers_pass(&x);
	brokers_send_forwarded(&x, "offline");
	mqtt_device_ck_never(&d, "invoke/r9=");
	/* A broker without bridges. */
	tk_service_end(&x.second.bridge[0]);
	bridge_ck_delivery(&x.first, "t1.invoke", INVOKE("r2"), "unavailable");
	bridge_fixture_start_leader(&x.second, 0);
	mqtt_device_heartbeat(&d);
	bridge_ck_delivery(&x.first, "t1.invoke", INVOKE("r2"), "delivered");
	brokers_expect_one(&d, "invoke/r2=");
	mqtt_device_report(&d, "online", "offline");
	bridge_fixture_wait(&x.second, "t1", bridge_terminal_present, "gone");
	bridge_ck_delivery(&x.first, "t1.invoke", INVOKE("r3"), "offline");
	mqtt_device_close(&d);
	brokers_stop(&x);
}
