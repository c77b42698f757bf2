/*
 * Replicas that die, stop, or end in peace: another reads the reports, nothing
 * is lost, nothing stale acts.
 */
#include "fleet.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FLEET 400
#else
#define FLEET 5000
#endif
/* What the architecture promises. */
#define TAKEOVER_MS 5000

static bool
one_leads(void *arg)
{
	struct bed *b = arg;
	int i, n = 0;

	for (i = 0; i < BRIDGES; i++)
		if (b->bridge[i].proc.pid != 0 &&
		    tk_service_metric(&b->bridge[i], "soul_bridge_leads") == 1)
			n++;
	return n == 1;
}

static int
leader(struct bed *b)
{
	int i;

	ck_assert(tk_until(one_leads, b, BED_MS));
	for (i = 0; i < BRIDGES; i++)
		if (b->bridge[i].proc.pid != 0 &&
		    tk_service_metric(&b->bridge[i], "soul_bridge_leads") == 1)
			return i;
	ck_abort_msg("nobody leads");
	return -1;
}

static void
two_replicas(struct bed *b)
{
	bed_servers(b, TK_MOSQUITTO);
	bridge_start_one(b, 0);
	bridge_start_one(b, 1);
	(void)leader(b);
}

static bool
has_taken_over(void *arg)
{
	return tk_service_metric(arg, "soul_bridge_leads") == 1;
}

/* The leader dies in the middle of everything. */
TEST_T(a_killed_leader_loses_nothing, 120)
{
	struct fleet f;
	struct bed b;
	int i, first;

	two_replicas(&b);
	first = leader(&b);
	fleet_open(&f, &b, FLEET);
	for (i = 0; i < FLEET; i++) {
		fleet_announce(&f, i, 1);
		if (i == FLEET / 2)
			tk_service_kill(&b.bridge[first]);
	}
	ck_assert(tk_until(has_taken_over, &b.bridge[1 - first], TAKEOVER_MS));
	fleet_settle(&f, 1);
	fleet_expect(&f, 1, BED_MS);
	/* And back again, while all of them change. */
	bridge_start_one(&b, first);
	for (i = 0; i < FLEET; i++) {
		fleet_announce(&f, i, 2);
		if (i == FLEET / 2)
			tk_service_kill(&b.bridge[1 - first]);
	}
	ck_assert(tk_until(has_taken_over, &b.bridge[first], TAKEOVER_MS));
	fleet_settle(&f, 2);
	fleet_expect(&f, 2, BED_MS);
	fleet_free(&f);
	bed_stop(&b);
}

/* At SIGTERM the lease is given back: nobody waits for its end. */
TEST(a_leader_that_ends_hands_over)
{
	struct bed b;
	struct body d;
	int first;

	two_replicas(&b);
	first = leader(&b);
	body_open(&d, &b, "t1");
	body_report(&d, "skills", SKILLS_V(1));
	bed_wait(&b, "t1", has_skills, "skill_1");
	tk_service_end(&b.bridge[first]);
	ck_assert(tk_until(bridge_leads, &b.bridge[1 - first], TAKEOVER_MS));
	body_report(&d, "skills", SKILLS_V(2));
	bed_wait(&b, "t1", has_skills, "skill_2");
	body_leave(&d);
	bed_stop(&b);
}

static bool
follows(void *arg)
{
	return tk_service_metric(arg, "soul_bridge_leads") == 0;
}

/* A leader that was stopped and goes on with what it had in hand. */
TEST_T(a_stopped_leader_writes_nothing_old, 120)
{
	struct terminal t;
	struct fleet f;
	struct bed b;
	int i, first;
	char id[16];

	two_replicas(&b);
	first = leader(&b);
	fleet_open(&f, &b, FLEET / 4);
	for (i = 0; i < f.n; i++)
		fleet_announce(&f, i, 1);
	fleet_settle(&f, 1);
	fleet_expect(&f, 1, BED_MS);
	tk_signal(&b.bridge[first].proc, SIGSTOP);
	for (i = 0; i < f.n; i++)
		fleet_announce(&f, i, 2);
	ck_assert(tk_until(bridge_leads, &b.bridge[1 - first], TAKEOVER_MS));
	for (i = 0; i < f.n; i++)
		fleet_announce(&f, i, 3);
	fleet_settle(&f, 3);
	fleet_expect(&f, 3, BED_MS);
	tk_signal(&b.bridge[first].proc, SIGCONT);
	ck_assert(tk_until(follows, &b.bridge[first], BED_MS));
	fleet_expect(&f, 3, BED_MS);
	/* Nor did it refuse what was old to it alone. */
	for (i = 0; i < f.n; i++) {
		snprintf(id, sizeof(id), "f%d", i);
		t = bed_terminal(&b, id);
		ck_assert_ptr_null(bed_refused(&t, TERMINAL_REJECTED_N).p);
	}
	ck_assert_int_eq(leader(&b), 1 - first);
	fleet_free(&f);
	bed_stop(&b);
}

/* ---- commands meanwhile -------------------------------------------------- */

/* How late the latest command came to the body, after its own deadline. */
static _Atomic int64_t latest_ms = INT64_MIN;
static _Atomic int came;

static void
on_invoke(struct mosquitto *mosq, void *arg, const struct mosquitto_message *m)
{
	json_t *j = json_loadb(m->payload, (size_t)m->payloadlen, 0, NULL);
	int64_t ms = clock_wall().ms -
	    json_integer_value(json_object_get(j, "deadline_ms"));

	(void)mosq;
	(void)arg;
	if (ms > atomic_load(&latest_ms))
		atomic_store(&latest_ms, ms);
	atomic_fetch_add(&came, 1);
	json_decref(j);
}

static int
command(struct bed *b, int i)
{
	char payload[256];
	int64_t deadline = clock_wall().ms + 1000;
	struct bed_answer a;
	int delivered;

	snprintf(payload, sizeof(payload),
	    "{\"request_id\":\"r%d\",\"skill\":\"nod\",\"arguments\":{},"
	    "\"deadline_ms\":%lld}",
	    i, (long long)deadline);
	a = bed_ask_late(b, "soul.body.main.t1.invoke", payload, -1000);
	delivered = strcmp(tk_find_text(a.body, "state"), "delivered") == 0;
	json_decref(a.body);
	return delivered;
}

/* Commands go on through kills of either replica, and none comes late. */
TEST_T(no_stale_action, 120)
{
	int i, who, delivered = 0;
	struct bed b;
	struct body d;

	two_replicas(&b);
	body_open(&d, &b, "t1");
	mosquitto_message_callback_set(d.mosq, on_invoke);
	body_report(&d, "online", "online");
	bed_wait(&b, "t1", is_present, "present");
	for (i = 0; i < 400; i++) {
		if (i % 100 == 50) {
			who = i / 100 % 2;
			tk_service_kill(&b.bridge[who]);
			bridge_spawn(&b, who);
		}
		delivered += command(&b, i);
	}
	/* One in hand may go with each that was killed. */
	ck_assert_int_ge(delivered, 380);
	body_wait(&came, delivered);
	ck_assert_int_lt(atomic_load(&latest_ms), 250);
	body_leave(&d);
	for (i = 0; i < 2; i++)
		tk_service_wait(&b.bridge[i]);
	bed_stop(&b);
}
