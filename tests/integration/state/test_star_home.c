/* Where souls live, whom they have met there, and which identities are whose.
 */
#include "core/id.h"
#include "state/keys.h"
#include "state/soul.h"
#include "state/star_home.h"
#include "state/state_internal.h"
#include "testkit/state_fixture.h"

STATE_FIXTURE_ON_CLUSTER

static const struct star_room mars = { STR_INIT("acme"), STR_INIT("mars") };
static const struct star_room moon = { STR_INIT("acme"), STR_INIT("moon") };

static void
soul_of(struct state_fixture *b, const char *user, const char *id)
{
	const struct soul soul = { .id = str_of(id),
		.user_id = str_of(user),
		.name = str_of(id),
		.mbti_type = STR("INFJ"),
		.model = STR("m"),
		.created = { 7 } };

	OK(soul_create(b->s, &soul, STR("0")));
}

static struct star_home
home_of(const char *user, const char *soul, const struct star_room *room,
    const char *agent)
{
	return (struct star_home){ .user_id = str_of(user),
		.soul_id = str_of(soul),
		.room = *room,
		.env_id = room->name,
		.agent_id = str_of(agent),
		.terminal_id = STR("star-1") };
}

static enum rc
enter(struct state_fixture *b, const char *user, const char *soul,
    const struct star_room *room, const char *agent)
{
	struct star_home p = home_of(user, soul, room, agent), before;

	return star_home_enter(b->s, &p, b->a, &before);
}

static size_t
residents(struct state_fixture *b, const struct star_room *room,
    struct star_resident **list)
{
	size_t n;

	OK(star_residents_read(b->s, room, b->a, list, &n));
	return n;
}

static struct str
residents_key(const struct star_room *room)
{
	static char text[STATE_KEY_MAX];
	struct script_call c;

	call_begin(&c, NULL);
	star_call_room(&c, KEY_STAR_RESIDENTS, room);
	OK(c.rc);
	str_copy(c.keys[0], text, sizeof(text));
	return str_of(text);
}

/* An entry that was written ms ago. */
static void
put_entry(struct state_fixture *b, const struct star_room *room,
    const char *agent, const char *user, const char *soul, int64_t ms)
{
	char text[200];

	snprintf(text, sizeof(text), "%s %s %lld", user, soul,
	    (long long)(state_fixture_now(b) - ms));
	DO(b, STR("HSET"), residents_key(room), str_of(agent), str_of(text));
}

TEST(a_soul_lives_in_one_environment)
{
	struct star_home p, before, q;
	struct star_resident *list;
	struct state_fixture b;

	state_fixture_start(&b);
	soul_of(&b, "alice", "s1");
	IS(RC_NOENT, star_home_read(b.s, STR("alice"), STR("s1"), b.a, &q));
	p = home_of("alice", "s1", &mars, "小星 one");
	OK(star_home_enter(b.s, &p, b.a, &before));
	ck_assert_ptr_null(before.soul_id.p);
	ck_assert_int_gt(p.at, 1700000000000);
	OK(star_home_read(b.s, STR("alice"), STR("s1"), b.a, &q));
	ck_text(q.room.tenant, "acme");
	ck_text(q.room.name, "mars");
	ck_text(q.env_id, "mars");
	ck_text(q.agent_id, "小星 one");
	ck_text(q.terminal_id, "star-1");
	ck_assert_int_eq(q.at, p.at);
	ck_assert_uint_eq(residents(&b, &mars, &list), 1);
	ck_text(list[0].agent_id, "小星 one");
	ck_text(list[0].user_id, "alice");
	ck_text(list[0].soul_id, "s1");
	ck_assert(!list[0].is_old);
	/* A move takes it out of where it was. */
	p = home_of("alice", "s1", &moon, "one");
	OK(star_home_enter(b.s, &p, b.a, &before));
	ck_text(before.env_id, "mars");
	ck_assert_uint_eq(residents(&b, &mars, &list), 0);
	ck_assert_uint_eq(residents(&b, &moon, &list), 1);
	/* Repeated it changes nothing but the time. */
	OK(star_home_enter(b.s, &p, b.a, &before));
	ck_text(before.env_id, "moon");
	ck_assert_uint_eq(residents(&b, &moon, &list), 1);
	OK(star_home_leave(b.s, STR("alice"), STR("s1"), b.a, &before));
	ck_text(before.agent_id, "one");
	ck_assert_uint_eq(residents(&b, &moon, &list), 0);
	IS(RC_NOENT,
	    star_home_leave(b.s, STR("alice"), STR("s1"), b.a, &before));
	state_fixture_stop(&b);
}

TEST(an_agent_is_one_souls)
{
	struct star_resident *list;
	struct state_fixture b;

	state_fixture_start(&b);
	soul_of(&b, "alice", "s1");
	soul_of(&b, "bob", "s2");
	OK(enter(&b, "alice", "s1", &mars, "one"));
	IS(RC_CONFLICT, enter(&b, "bob", "s2", &mars, "one"));
	OK(enter(&b, "bob", "s2", &mars, "two"));
	OK(enter(&b, "bob", "s2", &moon, "one"));
	/* A soul that does not exist leaves no entry. */
	IS(RC_NOENT, enter(&b, "bob", "s1", &mars, "three"));
	ck_assert_uint_eq(residents(&b, &mars, &list), 1);
	state_fixture_stop(&b);
}

TEST(an_old_entry_that_no_home_confirms_is_removed)
{
	struct star_resident *list;
	struct state_fixture b;

	state_fixture_start(&b);
	soul_of(&b, "alice", "s1");
	soul_of(&b, "bob", "s2");
	/* It may be about to be confirmed. */
	put_entry(&b, &mars, "one", "bob", "s2", STEP_DEAD_MS - 5000);
	IS(RC_CONFLICT, enter(&b, "alice", "s1", &mars, "one"));
	put_entry(&b, &mars, "one", "bob", "s2", STEP_DEAD_MS + 1000);
	ck_assert_uint_eq(residents(&b, &mars, &list), 1);
	ck_assert(list[0].is_old);
	OK(enter(&b, "alice", "s1", &mars, "one"));
	ck_assert_uint_eq(residents(&b, &mars, &list), 1);
	ck_text(list[0].user_id, "alice");
	/* One that is confirmed stays, however old. */
	put_entry(&b, &mars, "one", "alice", "s1", STEP_DEAD_MS + 1000);
	IS(RC_CONFLICT, enter(&b, "bob", "s2", &mars, "one"));
	/* What was written again meanwhile is another entry. */
	ck_assert_uint_eq(residents(&b, &mars, &list), 1);
	put_entry(&b, &mars, "one", "alice", "s1", 0);
	IS(RC_NOENT, star_resident_drop(b.s, &mars, &list[0]));
	ck_assert_uint_eq(residents(&b, &mars, &list), 1);
	OK(star_resident_drop(b.s, &mars, &list[0]));
	ck_assert_uint_eq(residents(&b, &mars, &list), 0);
	state_fixture_stop(&b);
}

TEST(a_full_environment_takes_no_more_souls)
{
	struct state_fixture b;
	char agent[32];
	int i;

	state_fixture_start(&b);
	soul_of(&b, "alice", "s1");
	for (i = 0; i < STAR_ROOM_MAX; i++) {
		snprintf(agent, sizeof(agent), "a%d", i);
		DO(&b, STR("HSET"), residents_key(&mars), str_of(agent),
		    STR("u s 1"));
	}
	IS(RC_RETRY, enter(&b, "alice", "s1", &mars, "one"));
	state_fixture_stop(&b);
}

TEST(the_home_of_a_deleted_soul_goes)
{
	struct star_resident *list;
	struct state_fixture b;
	struct star_home q;

	state_fixture_start(&b);
	soul_of(&b, "alice", "s1");
	OK(enter(&b, "alice", "s1", &mars, "one"));
	OK(soul_delete(b.s, STR("alice"), STR("s1"), NULL));
	IS(RC_NOENT, star_home_read(b.s, STR("alice"), STR("s1"), b.a, &q));
	/* The environment's list is for its hub to clean. */
	ck_assert_uint_eq(residents(&b, &mars, &list), 1);
	state_fixture_stop(&b);
}

TEST(a_guest_knows_a_soul_as_its_own_until_that_is_deleted)
{
	struct state_fixture b;
	struct soul soul, *souls;
	struct str *guests;
	size_t n;

	state_fixture_start(&b);
	soul_of(&b, "alice", "s1");
	soul_of(&b, "carol", "s9");
	IS(RC_NOENT,
	    star_guest_enter(b.s, STR("alice"), STR("s2"), STR("star:x")));
	IS(RC_INVALID,
	    star_guest_enter(b.s, STR("alice"), STR("s1"), STR("alice")));
	OK(star_guest_enter(b.s, STR("alice"), STR("s1"), STR("star:x")));
	OK(star_guest_enter(b.s, STR("alice"), STR("s1"), STR("star:x")));
	OK(star_guest_enter(b.s, STR("alice"), STR("s1"), STR("star:y")));
	OK(star_guest_enter(b.s, STR("carol"), STR("s9"), STR("star:x")));
	OK(soul_read(b.s, STR("star:x"), STR("s1"), b.a, &soul));
	ck_text(soul.name, "s1");
	ck_text(soul.mbti_type, "INFJ");
	ck_assert_int_eq(soul.created.ms, 7);
	OK(soul_list(b.s, STR("star:x"), b.a, &souls, &n));
	ck_assert_uint_eq(n, 2);
	OK(star_guests_read(b.s, STR("alice"), STR("s1"), b.a, &guests, &n));
	ck_assert_uint_eq(n, 2);
	OK(soul_delete(b.s, STR("alice"), STR("s1"), NULL));
	IS(RC_NOENT, soul_read(b.s, STR("star:x"), STR("s1"), b.a, &soul));
	IS(RC_NOENT, soul_read(b.s, STR("star:y"), STR("s1"), b.a, &soul));
	OK(soul_read(b.s, STR("star:x"), STR("s9"), b.a, &soul));
	OK(star_guests_read(b.s, STR("alice"), STR("s1"), b.a, &guests, &n));
	ck_assert_uint_eq(n, 0);
	/* The guest's own deletion leaves the soul. */
	OK(star_guest_leave(b.s, STR("star:x"), STR("s9")));
	OK(star_guests_read(b.s, STR("carol"), STR("s9"), b.a, &guests, &n));
	ck_assert_uint_eq(n, 0);
	OK(star_guest_leave(b.s, STR("carol"), STR("s9")));
	OK(star_guest_leave(b.s, STR("nobody"), STR("s9")));
	OK(soul_delete(b.s, STR("star:x"), STR("s9"), NULL));
	OK(soul_read(b.s, STR("carol"), STR("s9"), b.a, &soul));
	OK(soul_delete(b.s, STR("carol"), STR("s9"), NULL));
	state_fixture_stop(&b);
}

TEST(two_souls_of_one_name_may_have_the_same_guest)
{
	struct state_fixture b;
	struct soul soul;

	state_fixture_start(&b);
	soul_of(&b, "alice", "s1");
	soul_of(&b, "carol", "s1");
	OK(star_guest_enter(b.s, STR("alice"), STR("s1"), STR("star:x")));
	OK(star_guest_enter(b.s, STR("carol"), STR("s1"), STR("star:x")));
	OK(soul_read(b.s, STR("star:x"), STR("s1"), b.a, &soul));
	state_fixture_stop(&b);
}

TEST(the_identities_of_a_user_are_found_and_forgotten)
{
	const struct star_identity id = { STR("acme"), STR("human"),
		STR("bob") },
				   other = { STR("acme"), STR("agent"),
					   STR("mars/小星") };
	struct star_claim c = {
		.hub = STR("h1"), .user = STR("acme/bob"), .session = STR("s")
	};
	struct star_identity *list;
	struct state_fixture b;
	struct star_holder h;
	size_t n;

	state_fixture_start(&b);
	OK(star_user_add(b.s, c.user, &id));
	OK(star_user_add(b.s, c.user, &other));
	OK(star_claim(b.s, &id, &c, b.a));
	c.user = STR("acme/eve");
	OK(star_claim(b.s, &other, &c, b.a));
	OK(star_user_read(b.s, STR("acme/bob"), b.a, &list, &n));
	ck_assert_uint_eq(n, 2);
	OK(star_user_drop(b.s, STR("acme/bob"), &id));
	IS(RC_NOENT, star_find(b.s, &id, b.a, &h));
	/* It is another user's by now. */
	OK(star_user_drop(b.s, STR("acme/bob"), &other));
	OK(star_find(b.s, &other, b.a, &h));
	OK(star_user_read(b.s, STR("acme/bob"), b.a, &list, &n));
	ck_assert_uint_eq(n, 0);
	state_fixture_stop(&b);
}
