/* Redis waits for its disk; calls wait for the writes before them. */
#include <signal.h>
#include <stdio.h>

#include "core/clock.h"
#include "reports/report_queue.h"
#include "testkit/bridge_fixture.h"
#include "testkit/redis_meter.h"

#define COMMANDS 4
/* One fsync, while the next call is sent: two are over half a second. */
#define FSYNC_US 300000

static void
slow_disk_invoke(struct bridge_fixture *b, int i)
{
	char body[128], reply[32];

	snprintf(body, sizeof(body),
	    "{\"request_id\":\"r%d\",\"skill\":\"nod\",\"arguments\":{}}", i);
	snprintf(reply, sizeof(reply), "replies.%d", i);
	ck_assert_int_eq(natsConnection_PublishRequestString(
			     b->nc, "soul.body.main.t1.invoke", reply, body),
	    NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(b->nc), NATS_OK);
}

static bool
slow_disk_syncs(void *arg)
{
	struct tk_meter *meter = arg;

	return atomic_load(&meter->fsyncs) > 0;
}

TEST_T(commands_wait_for_a_slow_disk, 60)
{
	struct tk_meter *meter = tk_meter_begin();
	natsSubscription *replies;
	struct bridge_fixture b;
	struct mqtt_device d;
	json_t *reply;
	int i;

	bridge_fixture_start(&b);
	mqtt_device_open_online(&d, &b, "t1");
	replies = tk_nats_listen(b.nc, "replies.*");
	atomic_store(&meter->fsyncs, 0);
	atomic_store(&meter->fsync_us, FSYNC_US);
	slow_disk_invoke(&b, 0);
	ck_assert(tk_until(slow_disk_syncs, meter, BRIDGE_WAIT_MS));
	/* These wait for the fsync of the first, and for theirs. */
	for (i = 1; i < COMMANDS; i++)
		slow_disk_invoke(&b, i);
	for (i = 0; i < COMMANDS; i++) {
		reply = tk_nats_next(replies, BRIDGE_WAIT_MS, NULL);
		ck_assert_ptr_nonnull(reply);
		ck_assert_str_eq(tk_find_text(reply, "state"), "delivered");
		json_decref(reply);
	}
	ck_assert_uint_ge(atomic_load(&meter->fsyncs), 2);
	atomic_store(&meter->fsync_us, 0);
	natsSubscription_Destroy(replies);
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

/* ---- reports ---- */

/* The loop goes on while a report is written. */
TEST_T(a_slow_write_of_a_report_delays_nothing_else, 60)
{
	struct tk_meter *meter = tk_meter_begin();
	struct mqtt_device d, other;
	struct bridge_fixture b;
	struct mono start;

	bridge_fixture_start(&b);
	mqtt_device_open_online(&d, &b, "t1");
	mqtt_device_open(&other, &b, "t2");
	atomic_store(&meter->fsyncs, 0);
	atomic_store(&meter->fsync_us, 3 * FSYNC_US);
	mqtt_device_heartbeat(&other);
	ck_assert(tk_until(slow_disk_syncs, meter, BRIDGE_WAIT_MS));
	start = clock_mono();
	tk_nats_send(b.nc, "soul.body.main.t1.status", STATUS);
	mqtt_device_expect(&d, "status=");
	ck_assert_int_lt(
	    mono_diff_ms(clock_mono(), start), 2 * FSYNC_US / 1000);
	atomic_store(&meter->fsync_us, 0);
	bridge_ck_present(&b, "t2");
	mqtt_device_close(&d);
	mqtt_device_close(&other);
	bridge_fixture_stop(&b);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STORM 1000
#else
#define STORM 5000
#endif
/*
 * A hundred kilobytes a second: a thousand heartbeats need more than a second,
 * the deadline of a call.
 */
#define STORM_BYTE_US 10

/* Publish a message of each of n devices. */
static void
slow_disk_storm(struct mqtt_device *d, const char *leaf, const char *payload,
    struct mqtt_flags flags, int n)
{
	char topic[64];
	int i;

	for (i = 0; i < n; i++) {
		snprintf(topic, sizeof(topic), TOPIC_PREFIX "/terminal/f%d/%s",
		    i, leaf);
		mqtt_device_queue(d, topic, str_of(payload), flags);
	}
}

struct slow_disk_count {
	struct bridge_fixture *b;
	const char *metric;
	long long least;
};

static bool
slow_disk_counted(void *arg)
{
	struct slow_disk_count *c = arg;

	return tk_service_metric(&c->b->bridge[0], c->metric) >= c->least;
}

static void
slow_disk_wait_metric(
    struct bridge_fixture *b, const char *metric, int least, int ms)
{
	struct slow_disk_count c = { b, metric, least };

	ck_assert_msg(tk_until(slow_disk_counted, &c, ms), "%s is %lld", metric,
	    tk_service_metric(&b->bridge[0], metric));
}

static void
slow_disk_ck_metric(
    struct bridge_fixture *b, const char *metric, long long value)
{
	ck_assert_int_eq(tk_service_metric(&b->bridge[0], metric), value);
}

TEST_T(a_storm_of_heartbeats_keeps_the_lease, 120)
{
	struct tk_meter *meter = tk_meter_begin();
	struct bridge_fixture b;
	struct mqtt_device d;

	bridge_fixture_start(&b);
	mqtt_device_init(&d, TOPIC_PREFIX, "storm");
	mqtt_device_connect(&d, &b);
	atomic_store(&meter->byte_us, STORM_BYTE_US);
	slow_disk_storm(
	    &d, "heartbeat", "1", (struct mqtt_flags){ 0, false }, STORM);
	slow_disk_wait_metric(
	    &b, "soul_bridge_heartbeats_total", STORM, 2 * BRIDGE_WAIT_MS);
	slow_disk_ck_metric(&b, "soul_bridge_reports_failed_total", 0);
	slow_disk_ck_metric(&b, "soul_bridge_leads", 1);
	slow_disk_ck_metric(&b, "soul_bridge_leads_won_total", 1);
	atomic_store(&meter->byte_us, 0);
	bridge_ck_present(&b, "f0");
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

/* More than the queue holds. */
#define FLOOD (REPORT_QUEUE_MAX + 2000)

/* The broker holds the rest. */
TEST_T(nothing_is_received_while_the_queue_is_full, 120)
{
	struct tk_meter *meter = tk_meter_begin();
	struct bridge_fixture b;
	struct mqtt_device d;
	char id[16];

	bridge_fixture_start(&b);
	mqtt_device_init(&d, TOPIC_PREFIX, "flood");
	mqtt_device_connect(&d, &b);
	atomic_store(&meter->fsync_us, FSYNC_US);
	slow_disk_storm(&d, "online", "online", MQTT_RETAINED, FLOOD);
	slow_disk_wait_metric(
	    &b, "soul_bridge_pauses_total", 1, 2 * BRIDGE_WAIT_MS);
	atomic_store(&meter->fsync_us, 0);
	slow_disk_wait_metric(
	    &b, "soul_bridge_reports_total", FLOOD, 2 * BRIDGE_WAIT_MS);
	slow_disk_ck_metric(&b, "soul_bridge_reports_failed_total", 0);
	slow_disk_ck_metric(&b, "soul_bridge_leads_won_total", 1);
	slow_disk_ck_metric(&b, "soul_bridge_queued", 0);
	snprintf(id, sizeof(id), "f%d", FLOOD - 1);
	bridge_ck_present(&b, id);
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

#define RESULTS 3000

/* So does a flood of results; the broker holds those, too. */
TEST_T(results_wait_in_the_broker_while_redis_is_slow, 120)
{
	struct tk_meter *meter = tk_meter_begin();
	struct mqtt_device d, other;
	struct bridge_fixture b;
	char topic[64], payload[64];
	int i;

	bridge_fixture_start(&b);
	mqtt_device_open(&d, &b, "t1");
	mqtt_device_open(&other, &b, "t2");
	atomic_store(&meter->fsyncs, 0);
	atomic_store(&meter->fsync_us, 3 * FSYNC_US);
	mqtt_device_heartbeat(&other);
	ck_assert(tk_until(slow_disk_syncs, meter, BRIDGE_WAIT_MS));
	for (i = 0; i < RESULTS; i++) {
		snprintf(topic, sizeof(topic),
		    TOPIC_PREFIX "/terminal/t1/result/r%d", i);
		snprintf(payload, sizeof(payload),
		    "{\"request_id\":\"r%d\",\"ok\":true}", i);
		mqtt_device_queue(&d, topic, str_of(payload), MQTT_QOS1);
	}
	slow_disk_wait_metric(
	    &b, "soul_bridge_pauses_total", 1, BRIDGE_WAIT_MS);
	atomic_store(&meter->fsync_us, 0);
	/* Nobody has requested them. */
	slow_disk_wait_metric(
	    &b, "soul_bridge_results_unasked_total", RESULTS, BRIDGE_WAIT_MS);
	slow_disk_ck_metric(&b, "soul_bridge_results_total", RESULTS);
	slow_disk_ck_metric(&b, "soul_bridge_results_unkept_total", 0);
	mqtt_device_close(&d);
	mqtt_device_close(&other);
	bridge_fixture_stop(&b);
}

/* Longer than the deadline of a call. */
#define HUNG_US 1200000

/*
 * The outcome of "online" is unknown, and a heartbeat is to make up for it; but
 * not after "offline", which was received meanwhile.
 */
TEST_T(a_report_that_fails_does_not_undo_a_later_one, 60)
{
	struct tk_meter *meter = tk_meter_begin();
	struct mqtt_device d, other;
	struct bridge_fixture b;

	bridge_fixture_start(&b);
	mqtt_device_open(&d, &b, "t1");
	mqtt_device_open(&other, &b, "t2");
	atomic_store(&meter->fsyncs, 0);
	atomic_store(&meter->fsync_us, HUNG_US);
	mqtt_device_report(&d, "online", "online");
	ck_assert(tk_until(slow_disk_syncs, meter, BRIDGE_WAIT_MS));
	atomic_store(&meter->fsync_us, 0);
	mqtt_device_report(&d, "online", "offline");
	slow_disk_wait_metric(
	    &b, "soul_bridge_reports_failed_total", 1, BRIDGE_WAIT_MS);
	mqtt_device_heartbeat(&other);
	/* One of t1 would have been written with it. */
	slow_disk_wait_metric(
	    &b, "soul_bridge_heartbeats_total", 1, BRIDGE_WAIT_MS);
	slow_disk_ck_metric(&b, "soul_bridge_heartbeats_total", 1);
	bridge_fixture_wait(&b, "t1", bridge_terminal_present, "gone");
	mqtt_device_close(&d);
	mqtt_device_close(&other);
	bridge_fixture_stop(&b);
}

/* ---- what ends while a write waits ---- */

/* The lease is lost with the broker; nobody waits for the write any more. */
TEST_T(the_broker_may_be_lost_during_a_write, 90)
{
	struct tk_meter *meter = tk_meter_begin();
	struct bridge_fixture b;
	struct mqtt_fleet f;
	int i;

	bridge_fixture_servers(&b, TK_MOSQUITTO_PERSISTENT);
	bridge_fixture_start_leader(&b, 0);
	mqtt_fleet_open(&f, &b, 100);
	atomic_store(&meter->fsyncs, 0);
	atomic_store(&meter->fsync_us, 2 * FSYNC_US);
	for (i = 0; i < f.n; i++)
		mqtt_fleet_announce(&f, i, 1);
	mqtt_fleet_wait_acked(&f, 1);
	ck_assert(tk_until(slow_disk_syncs, meter, BRIDGE_WAIT_MS));
	tk_server_stop(&b.mqtt, SIGKILL);
	tk_server_restart(&b.mqtt);
	slow_disk_wait_metric(
	    &b, "soul_bridge_leads_won_total", 2, BRIDGE_WAIT_MS);
	atomic_store(&meter->fsync_us, 0);
	mqtt_device_wait(&f.d.up, 2);
	for (i = 0; i < f.n; i++)
		mqtt_fleet_announce(&f, i, 2);
	mqtt_fleet_expect(&f, 2, BRIDGE_WAIT_MS);
	mqtt_fleet_close(&f);
	bridge_fixture_stop(&b);
}

/* A stop waits for it, and writes what is queued behind it. */
TEST_T(a_bridge_stops_during_a_write, 60)
{
	struct tk_meter *meter = tk_meter_begin();
	struct bridge_fixture b;
	struct mqtt_device d;
	char id[16];
	int i;

	bridge_fixture_start(&b);
	mqtt_device_init(&d, TOPIC_PREFIX, "stop");
	mqtt_device_connect(&d, &b);
	atomic_store(&meter->fsyncs, 0);
	atomic_store(&meter->fsync_us, FSYNC_US);
	slow_disk_storm(&d, "online", "online", MQTT_RETAINED, 200);
	mqtt_device_wait(&d.acked, 200);
	slow_disk_wait_metric(&b, "soul_bridge_queued", 100, BRIDGE_WAIT_MS);
	tk_service_end(&b.bridge[0]);
	atomic_store(&meter->fsync_us, 0);
	for (i = 0; i < 200; i++) {
		snprintf(id, sizeof(id), "f%d", i);
		ck_assert(bridge_fixture_terminal(&b, id).present);
	}
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}
