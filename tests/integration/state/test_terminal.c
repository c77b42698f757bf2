/* Terminals: presence. */
#include "testkit/state_fixture.h"
#include "testkit/terminal_fixture.h"

static const struct str id = STR_INIT("机器人 1");

static bool
present(struct state_fixture *b)
{
	struct terminal t;

	OK(terminal_read(b->s, id, b->w.ttl_ms, b->a, &t));
	return t.present;
}

TEST(an_unknown_record_is_no_error)
{
	struct terminal t;
	struct state_fixture b;

	state_fixture_start(&b);
	OK(terminal_read(b.s, id, STATE_FIXTURE_TTL_MS, b.a, &t));
	ck_assert(!t.known);
	ck_assert(!t.present);
	ck_assert_int_eq(t.seen.ms, 0);
	ck_text(t.broker, NULL);
	ck_text(t.skills, NULL);
	ck_text(t.user_id, NULL);
	ck_assert_int_eq(
	    INT_OF(&b, STR("DBSIZE")), 0); /* reading leaves nothing */
	state_fixture_stop(&b);
}

TEST(a_terminal_goes_online_and_offline)
{
	struct terminal t;
	int64_t before;
	struct state_fixture b;
	bool changed;

	state_fixture_start(&b);
	before = state_fixture_now(&b);
	OK(terminal_fixture_put_online(b.s, &b.w, id, true, &changed));
	ck_assert(changed);
	OK(terminal_fixture_put_online(b.s, &b.w, id, true, &changed));
	ck_assert(!changed);
	OK(terminal_read(b.s, id, STATE_FIXTURE_TTL_MS, b.a, &t));
	ck_assert(t.known && t.present);
	ck_assert_int_ge(t.seen.ms, before);
	ck_assert_int_le(t.seen.ms, state_fixture_now(&b));
	ck_text(t.broker, "main");

	OK(terminal_fixture_put_online(b.s, &b.w, id, false, &changed));
	ck_assert(changed);
	OK(terminal_fixture_put_online(b.s, &b.w, id, false, &changed));
	ck_assert(!changed);
	OK(terminal_read(b.s, id, STATE_FIXTURE_TTL_MS, b.a, &t));
	ck_assert(t.known && !t.present);
	ck_assert_int_ge(t.seen.ms, before);
	state_fixture_stop(&b);
}

static bool
absent(void *arg)
{
	return !present(arg);
}

TEST(a_terminal_without_a_sign_of_life_is_absent)
{
	struct state_fixture b;
	bool came, changed;

	state_fixture_start(&b);
	b.w.ttl_ms = 100;
	OK(terminal_fixture_put_online(b.s, &b.w, id, true, NULL));
	ck_assert(tk_until(absent, &b, STATE_FIXTURE_WAIT_MS));
	OK(terminal_fixture_heartbeats(b.s, &b.w, &id, 1, &came));
	ck_assert(came);
	ck_assert(tk_until(absent, &b, STATE_FIXTURE_WAIT_MS));
	OK(terminal_fixture_put_online(b.s, &b.w, id, true, &changed));
	ck_assert(changed);
	/* With a longer time to live it is present. */
	ck_assert(tk_until(absent, &b, STATE_FIXTURE_WAIT_MS));
	b.w.ttl_ms = STATE_FIXTURE_TTL_MS;
	ck_assert(present(&b));
	state_fixture_stop(&b);
}

TEST(a_heartbeat_means_online)
{
	struct state_fixture b;
	bool came;

	state_fixture_start(&b);
	OK(terminal_fixture_heartbeats(b.s, &b.w, &id, 1, &came));
	ck_assert(came);
	ck_assert(present(&b));
	OK(terminal_fixture_heartbeats(b.s, &b.w, &id, 1, &came));
	ck_assert(!came);
	OK(terminal_fixture_put_online(b.s, &b.w, id, false, NULL));
	ck_assert(!present(&b));
	OK(terminal_fixture_heartbeats(b.s, &b.w, &id, 1, &came));
	ck_assert(came);
	ck_assert(present(&b));
	OK(terminal_fixture_heartbeats(b.s, &b.w, NULL, 0, NULL));
	state_fixture_stop(&b);
}

TEST(a_replayed_report_is_no_sign_of_life)
{
	struct terminal_snapshot snap = { .version = 1, .json = STR("[]") };
	struct terminal t;
	int64_t current;
	struct state_fixture b;
	bool changed;

	state_fixture_start(&b);
	b.w.replayed = true;
	OK(terminal_fixture_put_online(b.s, &b.w, id, true, &changed));
	ck_assert(!changed);
	OK(terminal_fixture_put_skills(b.s, &b.w, id, &snap, &current));
	OK(terminal_read(b.s, id, STATE_FIXTURE_TTL_MS, b.a, &t));
	ck_assert(t.known && !t.present);
	ck_assert_int_eq(t.seen.ms, 0);
	ck_text(t.broker, "main");
	ck_text(t.skills, "[]");

	/* For a recently seen terminal the replayed state counts. */
	b.w.replayed = false;
	OK(terminal_fixture_heartbeats(b.s, &b.w, &id, 1, NULL));
	b.w.replayed = true;
	OK(terminal_fixture_put_online(b.s, &b.w, id, false, &changed));
	ck_assert(changed);
	ck_assert(!present(&b));
	OK(terminal_fixture_put_online(b.s, &b.w, id, true, &changed));
	ck_assert(changed);
	ck_assert(present(&b));
	state_fixture_stop(&b);
}

TEST(a_terminal_may_move_to_another_broker)
{
	struct terminal_writer old, new;
	struct terminal t;
	struct state_fixture b;
	bool changed;

	state_fixture_start(&b);
	old = new = b.w;
	new.broker = STR("second");
	new.epoch = 1;
	OK(terminal_fixture_put_online(b.s, &old, id, true, NULL));
	OK(terminal_fixture_put_online(b.s, &new, id, true, &changed));
	ck_assert(!changed);
	/* The will at the previous broker comes late. */
	OK(terminal_fixture_put_online(b.s, &old, id, false, &changed));
	ck_assert(!changed);
	OK(terminal_read(b.s, id, STATE_FIXTURE_TTL_MS, b.a, &t));
	ck_assert(t.present);
	ck_text(t.broker, "second");
	/* So does the previous broker's retained message. */
	OK(terminal_fixture_put_online(b.s, &new, id, false, NULL));
	old.replayed = true;
	OK(terminal_fixture_put_online(b.s, &old, id, true, &changed));
	ck_assert(!changed);
	OK(terminal_read(b.s, id, STATE_FIXTURE_TTL_MS, b.a, &t));
	ck_assert(!t.present);
	ck_text(t.broker, "second");
	/* Epochs are compared per broker, both ways. */
	old.replayed = false;
	old.epoch--;
	IS(RC_DENIED, terminal_fixture_put_online(b.s, &old, id, true, NULL));
	old.epoch += 2;
	OK(terminal_fixture_put_online(b.s, &old, id, true, NULL));
	OK(terminal_read(b.s, id, STATE_FIXTURE_TTL_MS, b.a, &t));
	ck_text(t.broker, "main");
	state_fixture_stop(&b);
}

#define MANY 5000 /* over a pipeline */

TEST(heartbeats_may_exceed_a_pipeline)
{
	static char text[MANY][16];
	static struct str ids[MANY];
	static bool came[MANY];
	struct terminal t;
	struct state_fixture b;
	size_t i;

	state_fixture_start(&b);
	for (i = 0; i < MANY; i++) {
		snprintf(text[i], sizeof(text[i]), "t%zu", i);
		ids[i] = str_of(text[i]);
	}
	OK(terminal_fixture_put_online(b.s, &b.w, ids[7], true, NULL));
	OK(terminal_fixture_heartbeats(b.s, &b.w, ids, MANY, came));
	for (i = 0; i < MANY; i++)
		ck_assert_int_eq(came[i], i != 7);
	OK(terminal_fixture_heartbeats(b.s, &b.w, ids, MANY, came));
	for (i = 0; i < MANY; i++)
		ck_assert(!came[i]);
	OK(terminal_read(b.s, ids[MANY - 1], STATE_FIXTURE_TTL_MS, b.a, &t));
	ck_assert(t.present);

	/* One that a newer owner has written, and one that is no record. */
	b.w.epoch++;
	OK(terminal_fixture_put_online(b.s, &b.w, ids[10], false, NULL));
	b.w.epoch--;
	DO(&b, STR("SET"), STR("soul:terminal:{t20}"), STR("x"));
	for (i = 0; i < 40; i++)
		if (i != 10 && i != 20)
			OK(terminal_fixture_put_online(
			    b.s, &b.w, ids[i], false, NULL));
	IS(RC_DENIED, terminal_fixture_heartbeats(b.s, &b.w, ids, 40, came));
	for (i = 0; i < 40; i++)
		ck_assert_int_eq(came[i], i != 10 && i != 20);
	IS(RC_INVALID,
	    terminal_fixture_heartbeats(b.s, &b.w, ids + 20, 2, came));
	state_fixture_stop(&b);
}

TEST(wrong_arguments_are_rejected)
{
	static const struct str bad[] = { STR_INIT(""), { NULL, 0 },
		STR_INIT("a\nb"), STR_INIT("\xff") };
	struct terminal_writer w;
	struct terminal t;
	struct state_fixture b;
	size_t i;

	state_fixture_start(&b);
	for (i = 0; i < NELEM(bad); i++) {
		IS(RC_INVALID,
		    terminal_read(b.s, bad[i], STATE_FIXTURE_TTL_MS, b.a, &t));
		IS(RC_INVALID,
		    terminal_fixture_put_online(b.s, &b.w, bad[i], true, NULL));
		IS(RC_INVALID,
		    terminal_fixture_heartbeats(b.s, &b.w, &bad[i], 1, NULL));
		w = b.w;
		w.broker = bad[i];
		IS(RC_INVALID,
		    terminal_fixture_put_online(b.s, &w, id, true, NULL));
	}
	w = b.w;
	w.epoch = 0;
	IS(RC_INVALID, terminal_fixture_put_online(b.s, &w, id, true, NULL));
	w = b.w;
	w.ttl_ms = 0;
	IS(RC_INVALID, terminal_fixture_put_online(b.s, &w, id, true, NULL));
	ck_assert_int_eq(INT_OF(&b, STR("DBSIZE")), 0);
	state_fixture_stop(&b);
}
