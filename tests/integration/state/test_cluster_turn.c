/*
 * A turn whose bucket moves to another server: a script that finds a key of its
 * own on the way has written nothing.
 */
#include "state/cluster.h"
#include "state/turn.h"
#include "testkit/redis_set.h"
#include "testkit/state_fixture.h"

#define DEADLINE_MS 400

static const struct session_key key = { STR_INIT("u"), STR_INIT("s") };
static const struct turn_slot head = { { STR_INIT("u"), STR_INIT("s") },
	STR_INIT("i"), STR_INIT("a") };
static const struct turn_slot waiting = { { STR_INIT("u"), STR_INIT("s") },
	STR_INIT("j"), STR_INIT("b") };

/* Everything there is in the bucket; the last one is moved first. */
static const char *const keys[] = { "soul:session:{b0562}:u:s",
	"soul:messages:{b0562}:u:s", "soul:events:{b0562}:u:s:1",
	"soul:turns:{b0562}:u:s:2", "soul:turn:{b0562}:u:a",
	"soul:turn:{b0562}:u:b", "soul:soul:{b0562}:u:soul",
	"soul:state:{b0562}:u:soul", "soul:user:{b0562}:u:souls:1",
	"soul:user:{b0562}:u:soul_names:1", "soul:instance:{b0562}:i:1",
	"soul:idle:{b0562}:1", "soul:user:{b0562}:u:sessions:1",
	"soul:instance:{b0562}:j:1" };

struct moving {
	struct tk_cluster set;
	struct state_fixture f;
	int slot;
	size_t from, to;
};

static size_t
messages(struct moving *m)
{
	struct session_list l;

	OK(session_messages(m->f.s, &key,
	    (struct session_page){ .after = 0, .max = 10 }, m->f.a, &l));
	return l.n;
}

static void
moving_start(struct moving *m)
{
	struct str json = STR("{}");
	struct turn_events events = { &json, 1, 0, false };
	int64_t ahead;

	tk_cluster_start(&m->set);
	state_fixture_init(&m->f);
	state_fixture_connect(&m->f, m->set.url, DEADLINE_MS);
	state_fixture_wait_up(&m->f);
	OK(turn_fixture_enter(m->f.s, &head, &ahead));
	OK(turn_fixture_enter(m->f.s, &waiting, &ahead));
	turn_fixture_soul(m->f.s, "u", "soul");
	OK(turn_append_input(m->f.s, &head,
	    &(struct session_new){ .json = &json, .n = 1 },
	    &(struct turn_input){ STR("soul"), STR("t"), 60000 }, &events));
	OK(turn_fixture_alive(m->f.s, &head, 600000));
	OK(turn_fixture_alive(m->f.s, &waiting, 600000));
	m->slot = slot_of_key(STR("{b0562}"));
	m->from = tk_cluster_owner(&m->set, m->slot);
	m->to = (m->from + 1) % TK_CLUSTER_MASTERS;
	tk_cluster_migrate_begin(&m->set, m->slot, m->from, m->to);
}

static void
moving_end(struct moving *m)
{
	for (size_t i = 0; i + 1 < NELEM(keys); i++)
		tk_cluster_migrate_key(&m->set, keys[i], m->from, m->to);
	tk_cluster_migrate_end(&m->set, m->slot, m->to);
}

TEST_T(a_turn_that_finds_a_key_on_the_move_has_changed_nothing, 60)
{
	struct str json = STR("{}"), next;
	struct session_new new = { .json = &json, .n = 1 };
	struct turn_record rec;
	struct moving m;

	moving_start(&m);
	tk_cluster_migrate_key(&m.set, keys[NELEM(keys) - 1], m.from, m.to);
	/* Its process may be dead, or somewhere else. */
	IS(RC_RETRY, turn_fixture_finish(m.f.s, &head, &new, m.f.a, &next));
	IS(RC_RETRY, turn_fixture_leave(m.f.s, &head, m.f.a, &next));
	OK(turn_check_head(m.f.s, &head));
	ck_assert_uint_eq(messages(&m), 1);
	OK(turn_record_read(m.f.s, key.user_id, STR("a"), m.f.a, &rec));
	ck_assert_int_eq(rec.state, TURN_STATE_OPEN);

	moving_end(&m);
	OK(turn_fixture_finish(m.f.s, &head, &new, m.f.a, &next));
	ck_text(next, "j");
	OK(turn_check_head(m.f.s, &waiting));
	ck_assert_uint_eq(messages(&m), 2);
	state_fixture_stop(&m.f);
}

/* It must not count as deleted, and lose its summary. */
TEST_T(an_idle_session_on_the_move_stays_idle, 60)
{
	struct session_idle_list idle;
	struct moving m;

	moving_start(&m);
	OK(session_user_input(m.f.s, &key, STR("soul"), STR("t"), 0));
	tk_cluster_migrate_key(&m.set, keys[0], m.from, m.to);
	IS(RC_RETRY, session_fixture_claim(&m.f, "u", 60000, 10, &idle));
	for (size_t i = 1; i < NELEM(keys); i++)
		tk_cluster_migrate_key(&m.set, keys[i], m.from, m.to);
	tk_cluster_migrate_end(&m.set, m.slot, m.to);
	OK(session_fixture_claim(&m.f, "u", 60000, 10, &idle));
	ck_assert_uint_eq(idle.n, 1);
	ck_text(idle.idle[0].key.session_id, "s");
	state_fixture_stop(&m.f);
}
