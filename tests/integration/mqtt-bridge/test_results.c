/* Results, from the device to the caller. */
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "testkit/bridge_fixture.h"

#define INVOKE(id)                                                \
	"{\"request_id\":\"" id "\",\"skill\":\"control_light\"," \
	"\"arguments\":{}}"

struct stored_result {
	struct bridge_fixture *b;
	const char *id, *request;
	struct str json;
};

static bool
result_is_stored(void *arg)
{
	struct stored_result *k = arg;

	arena_reset(k->b->db.arena);
	return terminal_get_result(k->b->db.s, str_of(k->id),
		   str_of(k->request), k->b->db.arena, &k->json) == RC_OK;
}

TEST(a_result_is_published_and_stored)
{
	static const char result[] =
	    "{\"request_id\":\"r1\",\"ok\":true,\"output\":\"done\"}";
	natsSubscription *results, *events;
	struct stored_result k = { .id = "t1", .request = "r1" };
	struct bridge_fixture b;
	struct mqtt_device d;
	json_t *j;

	bridge_fixture_start(&b);
	k.b = &b;
	results = tk_nats_listen(b.nc, "soul.result.t1.r1");
	events = tk_nats_listen(b.nc, "soul.event.invoke_result.t1");
	mqtt_device_open_online(&d, &b, "t1");
	bridge_ck_delivery(&b, "t1.invoke", INVOKE("r1"), "delivered");
	ck_assert(!result_is_stored(&k));
	mqtt_device_result(&d, "r1", result);
	j = tk_nats_next(results, BRIDGE_WAIT_MS, NULL);
	ck_assert_ptr_nonnull(j);
	ck_assert(json_is_true(tk_at(j, "ok")));
	ck_assert_str_eq(tk_find_text(j, "output"), "done");
	json_decref(j);
	ck_assert(tk_until(result_is_stored, &k, BRIDGE_WAIT_MS));
	ck_assert_str_eq(k.json.p, result);
	j = bridge_fixture_event(events, "type", "invoke_result");
	ck_assert_str_eq(tk_find_text(j, "payload.request_id"), "r1");
	ck_assert_str_eq(tk_find_text(j, "payload.outcome"), "ok");
	ck_assert_str_eq(tk_find_text(j, "payload.skill"), "control_light");
	ck_assert(json_is_integer(tk_at(j, "payload.duration_ms")));
	json_decref(j);

	/* A second result is dropped. */
	mqtt_device_result(&d, "r1", "{\"request_id\":\"r1\",\"ok\":false}");
	/* Processed after it. */
	bridge_ck_delivery(&b, "t1.invoke", INVOKE("r2"), "delivered");
	mqtt_device_result(
	    &d, "r2", "{\"request_id\":\"r2\",\"ok\":false,\"error\":\"no\"}");
	j = bridge_fixture_event(events, "payload.request_id", "r2");
	ck_assert_str_eq(tk_find_text(j, "payload.outcome"), "error");
	ck_assert_str_eq(tk_find_text(j, "payload.error"), "no");
	json_decref(j);
	ck_assert_ptr_null(tk_nats_next(results, 10, NULL));
	ck_assert(result_is_stored(&k));
	ck_assert_str_eq(k.json.p, result);
	natsSubscription_Destroy(results);
	natsSubscription_Destroy(events);
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

#define UNEXPECTED "no invoke of this request in the last ten minutes"

/* The topic identifies the terminal, not the payload. */
TEST(a_result_for_another_terminal_is_denied)
{
	natsSubscription *all, *audit;
	struct stored_result k = { .id = "t1", .request = "r1" };
	natsMsg *m = NULL;
	struct bridge_fixture b;
	struct mqtt_device d, other;

	bridge_fixture_start(&b);
	k.b = &b;
	all = tk_nats_listen(b.nc, "soul.result.>");
	audit = tk_nats_listen(b.nc, "soul.event.audit.*");
	mqtt_device_open_online(&d, &b, "t1");
	mqtt_device_open_online(&other, &b, "t2");
	bridge_ck_delivery(&b, "t1.invoke", INVOKE("r1"), "delivered");
	mqtt_device_result(&other, "r1",
	    "{\"request_id\":\"r1\",\"terminal_id\":\"t1\",\"ok\":true}");
	mqtt_device_result(&d, "r1", "{\"request_id\":\"r1\",\"ok\":true}");
	ck_assert_int_eq(
	    natsSubscription_NextMsg(&m, all, BRIDGE_WAIT_MS), NATS_OK);
	ck_assert_str_eq(natsMsg_GetSubject(m), "soul.result.t1.r1");
	natsMsg_Destroy(m);
	ck_assert(tk_until(result_is_stored, &k, BRIDGE_WAIT_MS));
	ck_assert_int_ne(natsSubscription_NextMsg(&m, all, 10), NATS_OK);
	k.id = "t2";
	ck_assert(!result_is_stored(&k));
	ck_assert_int_eq(tk_service_metric(
			     &b.bridge[0], "soul_bridge_results_unasked_total"),
	    1);
	bridge_ck_denied(&b, audit, "t2", UNEXPECTED);
	natsSubscription_Destroy(audit);
	natsSubscription_Destroy(all);
	mqtt_device_close(&d);
	mqtt_device_close(&other);
	bridge_fixture_stop(&b);
}

static bool
results_both_saw_two(void *arg)
{
	static const char name[] = "soul_bridge_results_unasked_total";
	struct bridge_fixture *b = arg;

	return tk_service_metric(&b->bridge[0], name) == 2 &&
	    tk_service_metric(&b->bridge[1], name) == 2;
}

/* Both replicas receive it; one of them reports it. */
TEST(a_denial_is_reported_one_time)
{
	natsSubscription *audit;
	struct bridge_fixture b;
	struct mqtt_device other;

	bridge_fixture_start(&b);
	bridge_fixture_start_replica(&b, 1);
	audit = tk_nats_listen(b.nc, "soul.event.audit.*");
	mqtt_device_open_online(&other, &b, "t2");
	mqtt_device_result(&other, "r1", "{\"request_id\":\"r1\",\"ok\":true}");
	mqtt_device_result(&other, "r2", "{\"request_id\":\"r2\",\"ok\":true}");
	ck_assert(tk_until(results_both_saw_two, &b, BRIDGE_WAIT_MS));
	bridge_ck_denied(&b, audit, "t2", UNEXPECTED);
	ck_assert_ptr_null(tk_nats_next(audit, 1, NULL));
	ck_assert(!tk_log_has(&b.bridge[1].proc, "ev=audit"));
	natsSubscription_Destroy(audit);
	mqtt_device_close(&other);
	bridge_fixture_stop(&b);
}

TEST(a_result_event_has_the_invokes_trace)
{
	static const char parent[] =
	    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
	natsSubscription *events;
	natsMsg *q = NULL, *m = NULL;
	struct bridge_fixture b;
	struct mqtt_device d;
	json_t *j;

	bridge_fixture_start(&b);
	events = tk_nats_listen(b.nc, "soul.event.invoke_result.t1");
	mqtt_device_open_online(&d, &b, "t1");
	ck_assert_int_eq(natsMsg_Create(&q, "soul.body.main.t1.invoke", NULL,
			     INVOKE("r1"), (int)strlen(INVOKE("r1"))),
	    NATS_OK);
	natsMsgHeader_Set(q, "traceparent", parent);
	ck_assert_int_eq(
	    natsConnection_RequestMsg(&m, b.nc, q, BRIDGE_WAIT_MS), NATS_OK);
	natsMsg_Destroy(m);
	natsMsg_Destroy(q);
	mqtt_device_result(&d, "r1", "{\"request_id\":\"r1\",\"ok\":true}");
	j = bridge_fixture_event(events, "type", "invoke_result");
	ck_assert_str_eq(tk_find_text(j, "trace_id"),
	    "4bf92f35-77b3-4da6-a3ce-929d0e0e4736");
	json_decref(j);
	natsSubscription_Destroy(events);
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

/* Both replicas may publish the result, but only one the event. */
TEST(two_replicas_publish_one_event)
{
	natsSubscription *results, *events;
	struct bridge_fixture b;
	struct mqtt_device d;
	natsMsg *m = NULL;
	json_t *j;

	bridge_fixture_start(&b);
	bridge_fixture_start_replica(&b, 1);
	results = tk_nats_listen(b.nc, "soul.result.t1.r1");
	events = tk_nats_listen(b.nc, "soul.event.invoke_result.t1");
	mqtt_device_open_online(&d, &b, "t1");
	bridge_ck_delivery(&b, "t1.invoke", INVOKE("r1"), "delivered");
	mqtt_device_result(&d, "r1", "{\"request_id\":\"r1\",\"ok\":true}");
	bridge_ck_message(results);
	j = bridge_fixture_event(events, "payload.request_id", "r1");
	json_decref(j);
	bridge_ck_delivery(&b, "t1.invoke", INVOKE("r2"), "delivered");
	mqtt_device_result(&d, "r2", "{\"request_id\":\"r2\",\"ok\":true}");
	/* The next event is that of the other request. */
	ck_assert_int_eq(
	    natsSubscription_NextMsg(&m, events, BRIDGE_WAIT_MS), NATS_OK);
	ck_assert_ptr_nonnull(strstr(natsMsg_GetData(m), "\"r2\""));
	natsMsg_Destroy(m);
	natsSubscription_Destroy(results);
	natsSubscription_Destroy(events);
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

/* The replica that sent the invoke was killed. */
TEST(another_replica_publishes_the_result)
{
	natsSubscription *results;
	struct bridge_fixture b;
	struct mqtt_device d;

	bridge_fixture_start(&b);
	results = tk_nats_listen(b.nc, "soul.result.t1.r1");
	mqtt_device_open_online(&d, &b, "t1");
	bridge_ck_delivery(&b, "t1.invoke", INVOKE("r1"), "delivered");
	bridge_fixture_start_replica(&b, 1);
	tk_service_kill(&b.bridge[0]);
	mqtt_device_result(&d, "r1", "{\"request_id\":\"r1\",\"ok\":true}");
	bridge_ck_message(results);
	natsSubscription_Destroy(results);
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

/* ---- limits ---- */

#define MANY    200
#define REPEATS 400
/* The defaults of RATE_TERMINAL_PER_S and RATE_TERMINAL_BURST. */
#define PER_S 20
#define BURST 60

static void
results_publish(struct mqtt_device *d, const char *request)
{
	char payload[128], topic[512], leaf[64];

	snprintf(leaf, sizeof(leaf), "result/%s", request);
	mqtt_device_topic(d, leaf, topic);
	snprintf(payload, sizeof(payload),
	    "{\"request_id\":\"%s\",\"ok\":true}", request);
	mqtt_device_queue(d, topic, str_of(payload), MQTT_QOS1);
}

static void
results_invoke_many(struct bridge_fixture *b)
{
	char payload[128];
	int i;

	for (i = 0; i < MANY; i++) {
		snprintf(payload, sizeof(payload),
		    "{\"request_id\":\"r%d\",\"skill\":\"nod\","
		    "\"arguments\":{}}",
		    i);
		bridge_ck_delivery(b, "t1.invoke", payload, "delivered");
	}
	for (i = 0; i < 2; i++)
		ck_assert_int_gt(tk_service_metric(&b->bridge[i],
				     "soul_bridge_commands_total{command="
				     "\"invoke\",state=\"delivered\"}"),
		    0);
}

static long long
results_over_limit(struct bridge_fixture *b, int i)
{
	return tk_service_metric(&b->bridge[i], "soul_bridge_flood_total");
}

static long long
results_admitted(struct bridge_fixture *b, int i)
{
	return tk_service_metric(&b->bridge[i], "soul_bridge_results_total");
}

struct result_count {
	struct bridge_fixture *b;
	long long n;
};

static bool
results_both_received(void *arg)
{
	struct result_count *h = arg;

	return results_admitted(h->b, 0) + results_over_limit(h->b, 0) ==
	    h->n &&
	    results_admitted(h->b, 1) + results_over_limit(h->b, 1) == h->n;
}

/* Whichever replica sent the invoke; but each result only once. */
TEST_T(expected_results_are_not_limited, 120)
{
	struct result_count all = { .n = MANY };
	natsSubscription *results;
	char request[16];
	struct mono at;
	struct bridge_fixture b;
	struct mqtt_device d;
	long long most;
	json_t *j;
	int i;

	bridge_fixture_servers(&b, TK_MOSQUITTO);
	b.strict = true;
	bridge_fixture_start_replica(&b, 0);
	bridge_fixture_start_replica(&b, 1);
	all.b = &b;
	results = tk_nats_listen(b.nc, "soul.result.t1.*");
	mqtt_device_open_online(&d, &b, "t1");
	mosquitto_max_inflight_messages_set(d.mosq, 1000);
	results_invoke_many(&b);
	for (i = 0; i < MANY; i++) {
		snprintf(request, sizeof(request), "r%d", i);
		results_publish(&d, request);
	}
	for (i = 0; i < MANY; i++) {
		j = tk_nats_next(results, BRIDGE_WAIT_MS, NULL);
		ck_assert_msg(j != NULL, "%d of %d results", i, MANY);
		json_decref(j);
	}
	ck_assert(tk_until(results_both_received, &all, BRIDGE_WAIT_MS));
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(results_over_limit(&b, i), 0);
		ck_assert(!tk_log_has(&b.bridge[i].proc, "ev=bridge.flood"));
	}
	at = clock_mono();
	for (i = 0; i < REPEATS; i++)
		results_publish(&d, "r0");
	all.n += REPEATS;
	ck_assert(tk_until(results_both_received, &all, BRIDGE_WAIT_MS));
	most = BURST + 1 + PER_S * (1 + mono_diff_ms(clock_mono(), at) / 1000);
	for (i = 0; i < 2; i++)
		ck_assert_int_ge(results_over_limit(&b, i), REPEATS - most);
	natsSubscription_Destroy(results);
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}
