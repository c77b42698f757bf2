/*
 * What a soul must know of its terminals: the bridge copies presence to the
 * soul's bucket, and completes bindings that were left half way.
 */
#include "state/keys.h"
#include "state/soul.h"
#include "state/state_internal.h"
#include "testkit/bridge_fixture.h"
#include "testkit/terminal_fixture.h"

static const struct terminal_binding binding = { STR_INIT("t1"), STR_INIT("u1"),
	STR_INIT("soul_1"), BRIDGE_TTL_S * 1000 };

static void
start(struct bridge_fixture *b)
{
	bridge_fixture_start(b);
	tk_state_soul(&b->db, "soul_1", "INFJ", "u1");
}

/* What the soul knows of t1. */
struct copy {
	struct bridge_fixture *b;
	bool present; /* wanted */
	long long until;
};

static bool
copied(void *arg)
{
	struct copy *c = arg;
	struct state_reply *r;
	char text[128];
	long long at;

	ck_assert_int_eq(
	    state_cmd(c->b->db.s,
		STATE_ARGS(STR("HGET"),
		    terminal_fixture_key(KEY_BODIES, "u1", "soul_1"),
		    STR("t1")),
		&r),
	    RC_OK);
	str_copy(state_reply_str(r), text, sizeof(text));
	state_reply_free(r);
	if (sscanf(text, "%lld %lld main", &c->until, &at) != 2)
		return false;
	return (c->until > at) == c->present;
}

static void
ck_copied(struct bridge_fixture *b, bool present)
{
	struct copy c = { .b = b, .present = present };

	ck_assert(tk_until(copied, &c, BRIDGE_WAIT_MS));
	if (!present)
		ck_assert_int_eq(c.until, 0);
}

static bool
unbound(const struct terminal *t, const char *what)
{
	(void)what;
	return t->user_id.p == NULL;
}

TEST(presence_is_copied_when_it_changes)
{
	natsSubscription *hints;
	struct bridge_fixture b;
	struct mqtt_device d;
	char subject[256];
	long long n;
	json_t *j;
	bool ticks;
	int i;

	start(&b);
	hints = tk_nats_listen(b.nc, "soul.timer.tick");
	ck_assert_int_eq(terminal_bind(b.db.s, &binding, &ticks), RC_OK);
	mqtt_device_open_online(&d, &b, "t1");
	ck_copied(&b, true);
	/* The soul begins to tick, in the bucket of u1. */
	j = tk_nats_next(hints, BRIDGE_WAIT_MS, subject);
	ck_assert_int_eq(tk_int(j, "bucket"), 478);
	json_decref(j);

	/* Signs of life do not, until half of the time has passed. */
	n = tk_service_metric(
	    &b.bridge[0], "soul_bridge_presence_copies_total");
	for (i = 0; i < 5; i++)
		mqtt_device_heartbeat(&d);
	mqtt_device_report(&d, "skills", SKILLS_V(3));
	bridge_fixture_wait(&b, "t1", bridge_terminal_has_skills, "skill_3");
	ck_assert_int_eq(tk_service_metric(
			     &b.bridge[0], "soul_bridge_presence_copies_total"),
	    n);
	mqtt_device_report(&d, "online", "0");
	ck_copied(&b, false);
	mqtt_device_report(&d, "online", "1");
	ck_copied(&b, true);
	natsSubscription_Destroy(hints);
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

/* Signs of life, and later than the first. */
struct renewal {
	struct copy c;
	struct mqtt_device *d;
	long long first;
};

static bool
renewed(void *arg)
{
	struct renewal *r = arg;

	mqtt_device_heartbeat(r->d);
	return copied(&r->c) && r->c.until > r->first;
}

static bool
repaired(void *arg)
{
	return tk_service_metric(arg, "soul_bridge_bindings_repaired_total") >
	    0;
}

TEST(a_copy_is_renewed_before_it_ends)
{
	struct bridge_fixture b;
	struct mqtt_device d;
	struct renewal r = { .c = { .b = &b, .present = true }, .d = &d };
	struct terminal_binding brief = binding;
	bool ticks;

	brief.ttl_ms = 3000;
	bridge_fixture_servers(&b, TK_MOSQUITTO);
	b.more = "SKILL_SNAPSHOT_TTL_SECONDS=3";
	bridge_fixture_start_leader(&b, 0);
	tk_state_soul(&b.db, "soul_1", "INFJ", "u1");
	mqtt_device_open(&d, &b, "t1");
	mqtt_device_report(&d, "online", "1");
	ck_assert_int_eq(terminal_bind(b.db.s, &brief, &ticks), RC_OK);
	mqtt_device_heartbeat(&d);
	ck_copied(&b, true);
	ck_assert(copied(&r.c));
	r.first = r.c.until;
	ck_assert(tk_until(renewed, &r, BRIDGE_WAIT_MS));
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

/* The process that bound it has died before it wrote to the soul's bucket. */
TEST(a_binding_left_half_way_is_completed)
{
	struct binding_begun begun;
	char previous[ID_TOKEN_MAX];
	struct bridge_fixture b;
	struct mqtt_device d;

	start(&b);
	mqtt_device_open_online(&d, &b, "t1");
	ck_assert_int_eq(binding_begin(b.db.s, &binding, &begun), RC_OK);
	ck_assert_int_eq(
	    binding_set(b.db.s, &binding, begun.at, false, previous), RC_OK);
	mqtt_device_heartbeat(&d);
	ck_copied(&b, true);
	ck_assert(tk_until(repaired, &b.bridge[0], BRIDGE_WAIT_MS));
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

/* The process that deleted the soul has died before it unbound the terminal. */
TEST(a_terminal_of_a_deleted_soul_is_unbound)
{
	struct state_reply *terminals;
	struct bridge_fixture b;
	struct mqtt_device d;
	bool ticks;

	start(&b);
	ck_assert_int_eq(terminal_bind(b.db.s, &binding, &ticks), RC_OK);
	ck_assert_int_eq(soul_delete_begin(b.db.s, binding.user_id,
			     binding.soul_id, &terminals),
	    RC_OK);
	state_reply_free(terminals);
	mqtt_device_open_online(&d, &b, "t1");
	bridge_fixture_wait(&b, "t1", unbound, "");
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}
