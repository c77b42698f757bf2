/*
 * Bodies that are broken or mean harm: nothing dies, and their neighbours do
 * not notice.
 */
#include "core/mem.h"
#include "fleet.h"

#define PAYLOADS 1000
/* Of those, so many are as large as a message may be. */
#define LARGE 10
#define SEED  UINT64_C(0x5eed0b0d1e5)

static const char *const seeds[] = {
	SKILLS_V(3),
	CATALOG_V(3),
	"{\"request_id\":\"r1\",\"ok\":true,\"output\":{\"a\":[1,2,3]}}",
	"[{\"name\":\"a\",\"input_schema\":{\"type\":\"object\"}}]",
	"online",
	"",
};
static const char *const leaves[] = { "online", "heartbeat", "skills",
	"intent_catalog", "result/r1" };

static uint64_t
next(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

/* Cut, with bytes changed, nested too deep, or with much behind it. */
static void
spoil(uint64_t *s, int i, struct buf *out)
{
	const char *seed = seeds[next(s) % NELEM(seeds)];
	size_t n = strlen(seed), k;

	buf_reset(out);
	switch (i % LARGE == 0 && i < LARGE * LARGE ? 3 : next(s) % 3) {
	case 0:
		buf_put(out, seed, n > 0 ? next(s) % n : 0);
		break;
	case 1:
		buf_put(out, seed, n);
		for (k = 0; k < 1 + next(s) % 8 && n > 0; k++)
			out->p[next(s) % n] = (char)next(s);
		break;
	case 2:
		n = 1 + next(s) % 200;
		for (k = 0; k < n; k++)
			buf_putc(out, "[{\":,\\u0e9t"[next(s) % 11]);
		break;
	default:
		buf_puts(out, "{\"intent_catalog\":[{\"id\":\"");
		while (out->n < 1000000)
			buf_putc(out, (char)('a' + next(s) % 26));
		buf_puts(out, "\"}]}");
		break;
	}
}

static bool
is_delivered(void *arg)
{
	return strcmp(bed_deliver(arg, "soul.body.main.t1.invoke",
			  "{\"request_id\":\"n\",\"skill\":\"nod\","
			  "\"arguments\":{}}"),
		   "delivered") == 0;
}

/* From a fixed seed, while a neighbour goes on with its life. */
TEST_T(malformed_payloads, 120)
{
	struct buf payload = BUF_INIT(2UL * 1024 * 1024);
	struct body d, bad;
	uint64_t s = SEED;
	char topic[128];
	struct bed b;
	int i;

	bed_start(&b);
	body_open(&d, &b, "t1");
	body_report(&d, "online", "online");
	bed_wait(&b, "t1", is_present, "present");
	body_init(&bad, PREFIX, "bad");
	body_connect(&bad, &b);
	for (i = 0; i < PAYLOADS; i++) {
		spoil(&s, i, &payload);
		snprintf(topic, sizeof(topic), PREFIX "/terminal/bad%d/%s",
		    (int)(next(&s) % 20), leaves[next(&s) % NELEM(leaves)]);
		ck_assert_int_eq(mosquitto_publish(bad.mosq, NULL, topic,
				     (int)payload.n, payload.p, 1, i % 2 == 0),
		    0);
		if (i % 100 == 0)
			ck_assert(tk_until(is_delivered, &b, 1000));
	}
	body_wait(&bad.acked, PAYLOADS);
	/* All of it has been looked at when this has come. */
	body_report(&d, "skills", SKILLS_V(1));
	bed_wait(&b, "t1", has_skills, "skill_1");
	ck_assert(is_delivered(&b));
	ck_assert_int_gt(tk_service_metric(
			     &b.bridge[0], "soul_bridge_reports_refused_total"),
	    100);
	/* The next leader gets what the broker kept of it. */
	tk_service_kill(&b.bridge[0]);
	bridge_start_one(&b, 0);
	ck_assert(tk_until(bridge_leads, &b.bridge[0], BED_MS));
	ck_assert(is_delivered(&b));
	buf_free(&payload);
	body_leave(&bad);
	body_leave(&d);
	bed_stop(&b);
}

/* A catalog that takes as long as may be, again and again, from one body. */
TEST_T(costly_catalogs, 120)
{
	struct buf payload = BUF_INIT(2UL * 1024 * 1024);
	struct bed b;
	struct body d, bad;
	int i, k;

	bed_start(&b);
	body_open(&d, &b, "t1");
	body_report(&d, "online", "online");
	bed_wait(&b, "t1", is_present, "present");
	body_init(&bad, PREFIX, "bad");
	body_connect(&bad, &b);
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
		body_report(&bad, "intent_catalog", payload.p);
		ck_assert(tk_until(is_delivered, &b, 1000));
	}
	bed_wait(&b, "bad", was_refused, "too long");
	ck_assert(is_delivered(&b));
	buf_free(&payload);
	body_leave(&bad);
	body_leave(&d);
	bed_stop(&b);
}

/* Larger than any message may be: the broker does not even hand it on. */
TEST(oversize)
{
	size_t n = 3UL * 1024 * 1024;
	char *big = mem_alloc(n);
	struct bed b;
	struct body d;

	memset(big, ' ', n);
	bed_start(&b);
	body_open(&d, &b, "t1");
	body_publish(&d, PREFIX "/terminal/t1/skills", (struct str){ big, n },
	    (struct say){ 1, true });
	body_report(&d, "intent_catalog", CATALOG_V(2));
	bed_wait(&b, "t1", has_catalog, "intent_2");
	ck_assert_ptr_null(bed_terminal(&b, "t1").skills.p);
	/* Not even when it is replayed. */
	tk_service_end(&b.bridge[0]);
	bridge_start_one(&b, 0);
	ck_assert(tk_until(bridge_leads, &b.bridge[0], BED_MS));
	body_report(&d, "skills", SKILLS_V(2));
	bed_wait(&b, "t1", has_skills, "skill_2");
	free(big);
	body_leave(&d);
	bed_stop(&b);
}

static bool
over_quota(void *arg)
{
	return tk_service_metric(arg, "soul_bridge_events_over_quota_total") >
	    0;
}

/* One body that never stops reporting nonsense. */
TEST_T(a_flood, 90)
{
	natsSubscription *events;
	struct fleet f;
	struct bed b;
	struct body bad;
	char topic[512];
	int i, n = 0;
	json_t *j;

	bed_start(&b);
	events = tk_nats_listen(b.nc, "soul.event.report_refused.bad");
	body_init(&bad, PREFIX, "bad");
	body_connect(&bad, &b);
	body_topic(&bad, "skills", topic);
	for (i = 0; i < 5000; i++)
		ck_assert_int_eq(
		    mosquitto_publish(bad.mosq, NULL, topic, 1, "{", 1, true),
		    0);
	fleet_open(&f, &b, 20);
	for (i = 0; i < f.n; i++)
		fleet_announce(&f, i, 1);
	fleet_settle(&f, 1);
	fleet_expect(&f, 1, BED_MS);
	body_wait(&bad.acked, 5000);
	ck_assert(tk_until(over_quota, &b.bridge[0], BED_MS));
	while ((j = tk_nats_next(events, 100, NULL)) != NULL) {
		json_decref(j);
		n++;
	}
	ck_assert_int_lt(n, 1000);
	natsSubscription_Destroy(events);
	fleet_free(&f);
	body_leave(&bad);
	bed_stop(&b);
}
