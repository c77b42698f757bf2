/*
 * Broken and malicious terminals: nothing crashes, and other terminals are not
 * affected.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/bridge_fixture.h"

#define PAYLOADS 1000
/* How many of them have the maximum size. */
#define LARGE 10
#define SEED  UINT64_C(0x5eed0b0d1e5)

static const char *const hostile_seeds[] = {
	SKILLS_V(3),
	CATALOG_V(3),
	"{\"request_id\":\"r1\",\"ok\":true,\"output\":{\"a\":[1,2,3]}}",
	"[{\"name\":\"a\",\"input_schema\":{\"type\":\"object\"}}]",
	"online",
	"",
};
static const char *const hostile_leaves[] = { "online", "heartbeat", "skills",
	"intent_catalog", "result/r1" };

static uint64_t
hostile_random(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

/* Truncated, with changed bytes, nested too deeply, or very long. */
static void
hostile_payload(uint64_t *s, int i, struct buf *out)
{
	const char *seed =
	    hostile_seeds[hostile_random(s) % NELEM(hostile_seeds)];
	size_t n = strlen(seed), k;

	buf_reset(out);
	switch (
	    i % LARGE == 0 && i < LARGE * LARGE ? 3 : hostile_random(s) % 3) {
	case 0:
		buf_put(out, seed, n > 0 ? hostile_random(s) % n : 0);
		break;
	case 1:
		buf_put(out, seed, n);
		for (k = 0; k < 1 + hostile_random(s) % 8 && n > 0; k++)
			out->p[hostile_random(s) % n] = (char)hostile_random(s);
		break;
	case 2:
		n = 1 + hostile_random(s) % 200;
		for (k = 0; k < n; k++)
			buf_putc(out, "[{\":,\\u0e9t"[hostile_random(s) % 11]);
		break;
	default:
		buf_puts(out, "{\"intent_catalog\":[{\"id\":\"");
		while (out->n < 1000000)
			buf_putc(out, (char)('a' + hostile_random(s) % 26));
		buf_puts(out, "\"}]}");
		break;
	}
}

static bool
hostile_is_delivered(void *arg)
{
	return strcmp(bridge_fixture_deliver(arg, "soul.body.main.t1.invoke",
			  "{\"request_id\":\"n\",\"skill\":\"nod\","
			  "\"arguments\":{}}"),
		   "delivered") == 0;
}

/* Deterministic, while another terminal is invoked. */
TEST_T(malformed_payloads_do_not_disturb_others, 120)
{
	struct buf payload = BUF_INIT(2UL * 1024 * 1024);
	struct mqtt_device d, bad;
	uint64_t s = SEED;
	char topic[128];
	struct bridge_fixture b;
	int i;

	bridge_fixture_start(&b);
	mqtt_device_open_online(&d, &b, "t1");
	mqtt_device_init(&bad, TOPIC_PREFIX, "bad");
	mqtt_device_connect(&bad, &b);
	for (i = 0; i < PAYLOADS; i++) {
		hostile_payload(&s, i, &payload);
		snprintf(topic, sizeof(topic),
		    TOPIC_PREFIX "/terminal/bad%d/%s",
		    (int)(hostile_random(&s) % 20),
		    hostile_leaves[hostile_random(&s) % NELEM(hostile_leaves)]);
		mqtt_device_queue(&bad, topic, buf_str(&payload),
		    (struct mqtt_flags){ 1, i % 2 == 0 });
		if (i % 100 == 0)
			ck_assert(tk_until(hostile_is_delivered, &b, 1000));
	}
	mqtt_device_wait(&bad.acked, PAYLOADS);
	/* It is processed after all of them. */
	bridge_ck_skills(&b, &d, SKILLS_V(1), "skill_1");
	ck_assert(hostile_is_delivered(&b));
	ck_assert_int_gt(tk_service_metric(
			     &b.bridge[0], "soul_bridge_reports_refused_total"),
	    100);
	/* The next leader receives what the broker retained of it. */
	tk_service_kill(&b.bridge[0]);
	bridge_fixture_start_leader(&b, 0);
	ck_assert(hostile_is_delivered(&b));
	buf_free(&payload);
	mqtt_device_close(&bad);
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

/* A catalog that takes the maximum time, several times. */
TEST_T(slow_catalogs_do_not_disturb_others, 120)
{
	struct buf payload = BUF_INIT(2UL * 1024 * 1024);
	struct bridge_fixture b;
	struct mqtt_device d, bad;
	int i, k;

	bridge_fixture_start(&b);
	mqtt_device_open_online(&d, &b, "t1");
	mqtt_device_init(&bad, TOPIC_PREFIX, "bad");
	mqtt_device_connect(&bad, &b);
	for (i = 0; i < 5; i++) {
		buf_reset(&payload);
		buf_printf(&payload, "{\"intent_catalog\":[");
		for (k = 0; k < 7500; k++) {
			if (k % 50 == 0)
				buf_printf(&payload,
				    "%s{\"id\":\"i%d_%d\",\"slots\":[",
				    k > 0 ? "]}," : "", i, k);
			buf_printf(&payload,
			    "%s{\"name\":\"a\",\"regex\":\"%s\"}",
			    k % 50 > 0 ? "," : "",
			    "((((a{1,9}){1,9}){1,9}){1,9})");
		}
		buf_printf(&payload, "]}]}");
		ck_assert_int_eq(buf_rc(&payload), RC_OK);
		mqtt_device_report(&bad, "intent_catalog", payload.p);
		ck_assert(tk_until(hostile_is_delivered, &b, 1000));
	}
	bridge_fixture_wait(&b, "bad", bridge_terminal_has_error, "time limit");
	ck_assert(hostile_is_delivered(&b));
	buf_free(&payload);
	mqtt_device_close(&bad);
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

/* Larger than any message may be: the broker does not forward it. */
TEST(an_oversized_message_is_not_delivered)
{
	size_t n = 3UL * 1024 * 1024;
	char *big = mem_alloc(n);
	struct bridge_fixture b;
	struct mqtt_device d;

	memset(big, ' ', n);
	bridge_fixture_start(&b);
	mqtt_device_open(&d, &b, "t1");
	mqtt_device_publish(&d, TOPIC_PREFIX "/terminal/t1/skills",
	    (struct str){ big, n }, MQTT_RETAINED);
	bridge_ck_catalog(&b, &d, CATALOG_V(2), "intent_2");
	ck_assert_ptr_null(bridge_fixture_terminal(&b, "t1").skills.p);
	/* Nor when it is replayed. */
	tk_service_end(&b.bridge[0]);
	bridge_fixture_start_leader(&b, 0);
	bridge_ck_skills(&b, &d, SKILLS_V(2), "skill_2");
	free(big);
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

static bool
hostile_over_quota(void *arg)
{
	return tk_service_metric(arg, "soul_bridge_events_over_quota_total") >
	    0;
}

TEST_T(events_of_a_flood_are_limited, 90)
{
	natsSubscription *events;
	struct mqtt_fleet f;
	struct bridge_fixture b;
	struct mqtt_device bad;
	char topic[512];
	int i, n = 0;
	json_t *j;

	bridge_fixture_start(&b);
	events = tk_nats_listen(b.nc, "soul.event.report_refused.bad");
	mqtt_device_init(&bad, TOPIC_PREFIX, "bad");
	mqtt_device_connect(&bad, &b);
	mqtt_device_topic(&bad, "skills", topic);
	for (i = 0; i < 5000; i++)
		mqtt_device_queue(&bad, topic, STR("{"), MQTT_RETAINED);
	mqtt_fleet_open(&f, &b, 20);
	for (i = 0; i < f.n; i++)
		mqtt_fleet_announce(&f, i, 1);
	mqtt_fleet_wait_acked(&f, 1);
	mqtt_fleet_expect(&f, 1, BRIDGE_WAIT_MS);
	mqtt_device_wait(&bad.acked, 5000);
	ck_assert(tk_until(hostile_over_quota, &b.bridge[0], BRIDGE_WAIT_MS));
	while ((j = tk_nats_next(events, 100, NULL)) != NULL) {
		json_decref(j);
		n++;
	}
	ck_assert_int_lt(n, 1000);
	natsSubscription_Destroy(events);
	mqtt_fleet_close(&f);
	mqtt_device_close(&bad);
	bridge_fixture_stop(&b);
}
