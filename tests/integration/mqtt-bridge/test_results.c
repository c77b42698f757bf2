/*
 * Results of bodies, on their way to who asked.
 */
#include "body.h"

#define INVOKE(id)                                                \
	"{\"request_id\":\"" id "\",\"skill\":\"control_light\"," \
	"\"arguments\":{}}"

static void
present(struct bed *b, struct body *d, const char *id)
{
	body_open(d, b, id);
	body_report(d, "online", "online");
	bed_wait(b, id, is_present, "present");
}

struct kept {
	struct bed *b;
	const char *id, *request;
	struct str json;
};

static bool
is_kept(void *arg)
{
	struct kept *k = arg;

	arena_reset(k->b->db.arena);
	return terminal_get_result(k->b->db.s, str_of(k->id),
		   str_of(k->request), k->b->db.arena, &k->json) == RC_OK;
}

TEST(a_result_comes_back)
{
	static const char answer[] =
	    "{\"request_id\":\"r1\",\"ok\":true,\"output\":\"done\"}";
	natsSubscription *results, *events;
	struct kept k = { .id = "t1", .request = "r1" };
	struct bed b;
	struct body d;
	json_t *j;

	bed_start(&b);
	k.b = &b;
	results = tk_nats_listen(b.nc, "soul.result.t1.r1");
	events = tk_nats_listen(b.nc, "soul.event.invoke_result.t1");
	present(&b, &d, "t1");
	ck_assert_str_eq(
	    bed_deliver(&b, "soul.body.main.t1.invoke", INVOKE("r1")),
	    "delivered");
	ck_assert(!is_kept(&k));
	body_answer(&d, "r1", answer);
	j = tk_nats_next(results, BED_MS, NULL);
	ck_assert_ptr_nonnull(j);
	ck_assert(json_is_true(tk_at(j, "ok")));
	ck_assert_str_eq(tk_find_text(j, "output"), "done");
	json_decref(j);
	ck_assert(tk_until(is_kept, &k, BED_MS));
	ck_assert_str_eq(k.json.p, answer);
	j = bed_event(events, "type", "invoke_result");
	ck_assert_str_eq(tk_find_text(j, "payload.request_id"), "r1");
	ck_assert_str_eq(tk_find_text(j, "payload.outcome"), "ok");
	ck_assert_str_eq(tk_find_text(j, "payload.skill"), "control_light");
	ck_assert(json_is_integer(tk_at(j, "payload.duration_ms")));
	json_decref(j);

	/* A second answer changes nothing, and goes nowhere. */
	body_answer(&d, "r1", "{\"request_id\":\"r1\",\"ok\":false}");
	/* What comes next is behind it. */
	ck_assert_str_eq(
	    bed_deliver(&b, "soul.body.main.t1.invoke", INVOKE("r2")),
	    "delivered");
	body_answer(
	    &d, "r2", "{\"request_id\":\"r2\",\"ok\":false,\"error\":\"no\"}");
	j = bed_event(events, "payload.request_id", "r2");
	ck_assert_str_eq(tk_find_text(j, "payload.outcome"), "error");
	ck_assert_str_eq(tk_find_text(j, "payload.error"), "no");
	json_decref(j);
	ck_assert_ptr_null(tk_nats_next(results, 10, NULL));
	ck_assert(is_kept(&k));
	ck_assert_str_eq(k.json.p, answer);
	natsSubscription_Destroy(results);
	natsSubscription_Destroy(events);
	body_leave(&d);
	bed_stop(&b);
}

#define UNASKED "nobody asked this body for it within ten minutes"

/* The topic says who speaks, whatever the payload says. */
TEST(nobody_answers_for_another)
{
	natsSubscription *all, *told;
	struct kept k = { .id = "t1", .request = "r1" };
	natsMsg *m = NULL;
	struct bed b;
	struct body d, thief;

	bed_start(&b);
	k.b = &b;
	all = tk_nats_listen(b.nc, "soul.result.>");
	told = tk_nats_listen(b.nc, "soul.event.audit.*");
	present(&b, &d, "t1");
	present(&b, &thief, "t2");
	ck_assert_str_eq(
	    bed_deliver(&b, "soul.body.main.t1.invoke", INVOKE("r1")),
	    "delivered");
	body_answer(&thief, "r1",
	    "{\"request_id\":\"r1\",\"terminal_id\":\"t1\",\"ok\":true}");
	body_answer(&d, "r1", "{\"request_id\":\"r1\",\"ok\":true}");
	ck_assert_int_eq(natsSubscription_NextMsg(&m, all, BED_MS), NATS_OK);
	ck_assert_str_eq(natsMsg_GetSubject(m), "soul.result.t1.r1");
	natsMsg_Destroy(m);
	ck_assert(tk_until(is_kept, &k, BED_MS));
	ck_assert_int_ne(natsSubscription_NextMsg(&m, all, 10), NATS_OK);
	k.id = "t2";
	ck_assert(!is_kept(&k));
	ck_assert_int_eq(tk_service_metric(
			     &b.bridge[0], "soul_bridge_results_unasked_total"),
	    1);
	ck_denied(&b, told, "t2", UNASKED);
	natsSubscription_Destroy(told);
	natsSubscription_Destroy(all);
	body_leave(&d);
	body_leave(&thief);
	bed_stop(&b);
}

static bool
both_saw_two(void *arg)
{
	static const char name[] = "soul_bridge_results_unasked_total";
	struct bed *b = arg;

	return tk_service_metric(&b->bridge[0], name) == 2 &&
	    tk_service_metric(&b->bridge[1], name) == 2;
}

/* Both replicas see what it says; one tells it, and not each time. */
TEST(a_thief_is_told_once)
{
	natsSubscription *told;
	struct bed b;
	struct body thief;

	bed_start(&b);
	bridge_start_one(&b, 1);
	told = tk_nats_listen(b.nc, "soul.event.audit.*");
	present(&b, &thief, "t2");
	body_answer(&thief, "r1", "{\"request_id\":\"r1\",\"ok\":true}");
	body_answer(&thief, "r2", "{\"request_id\":\"r2\",\"ok\":true}");
	ck_assert(tk_until(both_saw_two, &b, BED_MS));
	ck_denied(&b, told, "t2", UNASKED);
	ck_assert_ptr_null(tk_nats_next(told, 1, NULL));
	ck_assert(!tk_log_has(&b.bridge[1].proc, "ev=audit"));
	natsSubscription_Destroy(told);
	body_leave(&thief);
	bed_stop(&b);
}

/* The events of a request belong to the trace of the one who asked. */
TEST(the_trace_goes_on)
{
	static const char parent[] =
	    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
	natsSubscription *events;
	natsMsg *q = NULL, *m = NULL;
	struct bed b;
	struct body d;
	json_t *j;

	bed_start(&b);
	events = tk_nats_listen(b.nc, "soul.event.invoke_result.t1");
	present(&b, &d, "t1");
	ck_assert_int_eq(natsMsg_Create(&q, "soul.body.main.t1.invoke", NULL,
			     INVOKE("r1"), (int)strlen(INVOKE("r1"))),
	    NATS_OK);
	natsMsgHeader_Set(q, "traceparent", parent);
	ck_assert_int_eq(
	    natsConnection_RequestMsg(&m, b.nc, q, BED_MS), NATS_OK);
	natsMsg_Destroy(m);
	natsMsg_Destroy(q);
	body_answer(&d, "r1", "{\"request_id\":\"r1\",\"ok\":true}");
	j = bed_event(events, "type", "invoke_result");
	ck_assert_str_eq(tk_find_text(j, "trace_id"),
	    "4bf92f35-77b3-4da6-a3ce-929d0e0e4736");
	json_decref(j);
	natsSubscription_Destroy(events);
	body_leave(&d);
	bed_stop(&b);
}

/* Two replicas: one tells, one keeps; it may be handed on by both. */
TEST(two_replicas_tell_once)
{
	natsSubscription *results, *events;
	struct bed b;
	struct body d;
	natsMsg *m = NULL;
	json_t *j;

	bed_start(&b);
	bridge_start_one(&b, 1);
	results = tk_nats_listen(b.nc, "soul.result.t1.r1");
	events = tk_nats_listen(b.nc, "soul.event.invoke_result.t1");
	present(&b, &d, "t1");
	ck_assert_str_eq(
	    bed_deliver(&b, "soul.body.main.t1.invoke", INVOKE("r1")),
	    "delivered");
	body_answer(&d, "r1", "{\"request_id\":\"r1\",\"ok\":true}");
	j = tk_nats_next(results, BED_MS, NULL);
	ck_assert_ptr_nonnull(j);
	json_decref(j);
	j = bed_event(events, "payload.request_id", "r1");
	json_decref(j);
	ck_assert_str_eq(
	    bed_deliver(&b, "soul.body.main.t1.invoke", INVOKE("r2")),
	    "delivered");
	body_answer(&d, "r2", "{\"request_id\":\"r2\",\"ok\":true}");
	/* The next one is that of the other request. */
	ck_assert_int_eq(natsSubscription_NextMsg(&m, events, BED_MS), NATS_OK);
	ck_assert_ptr_nonnull(strstr(natsMsg_GetData(m), "\"r2\""));
	natsMsg_Destroy(m);
	natsSubscription_Destroy(results);
	natsSubscription_Destroy(events);
	body_leave(&d);
	bed_stop(&b);
}

/* Whoever asked has died: another replica hands the result on. */
TEST(who_asked_is_gone)
{
	natsSubscription *results;
	struct bed b;
	struct body d;
	json_t *j;

	bed_start(&b);
	results = tk_nats_listen(b.nc, "soul.result.t1.r1");
	present(&b, &d, "t1");
	ck_assert_str_eq(
	    bed_deliver(&b, "soul.body.main.t1.invoke", INVOKE("r1")),
	    "delivered");
	bridge_start_one(&b, 1);
	tk_service_kill(&b.bridge[0]);
	body_answer(&d, "r1", "{\"request_id\":\"r1\",\"ok\":true}");
	j = tk_nats_next(results, BED_MS, NULL);
	ck_assert_ptr_nonnull(j);
	json_decref(j);
	natsSubscription_Destroy(results);
	body_leave(&d);
	bed_stop(&b);
}

/* ---- how many ------------------------------------------------------------ */

#define MANY    200
#define REPEATS 400
/* What is shipped: so many unasked ones of a body a second, and at once. */
#define PER_S 20
#define BURST 60

static void
answer_as(struct body *d, const char *request)
{
	char payload[128], topic[512], leaf[64];

	snprintf(leaf, sizeof(leaf), "result/%s", request);
	body_topic(d, leaf, topic);
	snprintf(payload, sizeof(payload),
	    "{\"request_id\":\"%s\",\"ok\":true}", request);
	ck_assert_int_eq(mosquitto_publish(d->mosq, NULL, topic,
			     (int)strlen(payload), payload, 1, false),
	    0);
}

static void
ask_many(struct bed *b)
{
	char ask[128];
	int i;

	for (i = 0; i < MANY; i++) {
		snprintf(ask, sizeof(ask),
		    "{\"request_id\":\"r%d\",\"skill\":\"nod\","
		    "\"arguments\":{}}",
		    i);
		ck_assert_str_eq(
		    bed_deliver(b, "soul.body.main.t1.invoke", ask),
		    "delivered");
	}
	for (i = 0; i < 2; i++)
		ck_assert_int_gt(tk_service_metric(&b->bridge[i],
				     "soul_bridge_commands_total{command="
				     "\"invoke\",state=\"delivered\"}"),
		    0);
}

static long long
flooded(struct bed *b, int i)
{
	return tk_service_metric(&b->bridge[i], "soul_bridge_flood_total");
}

static long long
let_in(struct bed *b, int i)
{
	return tk_service_metric(&b->bridge[i], "soul_bridge_results_total");
}

struct heard {
	struct bed *b;
	long long n;
};

static bool
both_heard(void *arg)
{
	struct heard *h = arg;

	return let_in(h->b, 0) + flooded(h->b, 0) == h->n &&
	    let_in(h->b, 1) + flooded(h->b, 1) == h->n;
}

/* Whichever of two bridges has sent the invoke; but each counts once. */
TEST_T(results_asked_for_are_no_flood, 120)
{
	struct heard all = { .n = MANY };
	natsSubscription *results;
	char request[16];
	struct mono at;
	struct bed b;
	struct body d;
	long long most;
	json_t *j;
	int i;

	bed_servers(&b, TK_MOSQUITTO);
	b.strict = true;
	bridge_start_one(&b, 0);
	bridge_start_one(&b, 1);
	all.b = &b;
	results = tk_nats_listen(b.nc, "soul.result.t1.*");
	present(&b, &d, "t1");
	mosquitto_max_inflight_messages_set(d.mosq, 1000);
	ask_many(&b);
	for (i = 0; i < MANY; i++) {
		snprintf(request, sizeof(request), "r%d", i);
		answer_as(&d, request);
	}
	for (i = 0; i < MANY; i++) {
		j = tk_nats_next(results, BED_MS, NULL);
		ck_assert_msg(j != NULL, "%d of %d results", i, MANY);
		json_decref(j);
	}
	ck_assert(tk_until(both_heard, &all, BED_MS));
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(flooded(&b, i), 0);
		ck_assert(!tk_log_has(&b.bridge[i].proc, "ev=bridge.flood"));
	}
	at = clock_mono();
	for (i = 0; i < REPEATS; i++)
		answer_as(&d, "r0");
	all.n += REPEATS;
	ck_assert(tk_until(both_heard, &all, BED_MS));
	most = BURST + 1 + PER_S * (1 + mono_diff_ms(clock_mono(), at) / 1000);
	for (i = 0; i < 2; i++)
		ck_assert_int_ge(flooded(&b, i), REPEATS - most);
	natsSubscription_Destroy(results);
	body_leave(&d);
	bed_stop(&b);
}
