/* Star: identities, hubs, rooms, events of an environment. */
#include "state/keys.h"
#include "state/star.h"
#include "state/state_internal.h"
#include "testkit/state_fixture.h"

STATE_FIXTURE_ON_CLUSTER

#define AGENT_TOKEN "~bWFycy9hZ2VudF8wMDE"
#define AGENT_KEY                         \
	key_in("acme:agent:" AGENT_TOKEN, \
	    "soul:star:client:", ":acme:agent:" AGENT_TOKEN)
#define MARS_EVENTS \
	key_in("acme:environment:mars", "soul:star:events:", ":acme:mars:1")

static const struct star_identity agent = { STR_INIT("acme"), STR_INIT("agent"),
	STR_INIT("mars/agent_001") };
static const struct star_identity mars_id = { STR_INIT("acme"),
	STR_INIT("environment"), STR_INIT("mars") };
static const struct star_room mars = { STR_INIT("acme"), STR_INIT("mars") };

/* A key of the bucket of tokens, which are those of an identity. */
static struct str
key_in(const char *tokens, const char *before, const char *after)
{
	static char text[STATE_KEY_MAX];
	char tag[BUCKET_TAG_MAX];

	snprintf(text, sizeof(text), "%s{%.*s}%s", before,
	    STR_ARG(bucket_tag(bucket_of_token(str_of(tokens)), tag)), after);
	return str_of(text);
}

static struct star_claim
claim(struct state_fixture *b, const struct star_identity *id, const char *hub)
{
	struct star_claim c = {
		.hub = str_of(hub), .user = STR("alice"), .session = STR("s1")
	};

	OK(star_claim(b->s, id, &c, b->a));
	return c;
}

static struct star_member
member(const char *name, const char *hub, int64_t gen)
{
	return (struct star_member){ STR("agent"), str_of(name),
		{ str_of(hub), gen } };
}

TEST(the_newest_claim_holds_an_identity)
{
	struct star_holder h;
	struct state_fixture b;
	struct star_claim c;
	int64_t gen;

	state_fixture_start(&b);
	IS(RC_NOENT, star_find(b.s, &agent, b.a, &h));
	c = claim(&b, &agent, "h1");
	/* At least the time: older ones that Redis has lost are below it. */
	ck_assert_int_gt(c.gen, 1700000000000);
	gen = c.gen;
	ck_assert_ptr_null(c.before.hub.p);
	c = claim(&b, &agent, "h2");
	ck_assert_int_gt(c.gen, gen);
	ck_text(c.before.hub, "h1");
	ck_assert_int_eq(c.before.gen, gen);
	ck_text(c.session_before, "s1");
	/* The end of the older connection changes nothing. */
	h = (struct star_holder){ STR("h1"), gen };
	IS(RC_CONFLICT, star_release(b.s, &agent, &h));
	IS(RC_CONFLICT, star_extend(b.s, &agent, &h));
	h = (struct star_holder){ STR("h1"), c.gen };
	IS(RC_CONFLICT, star_release(b.s, &agent, &h));
	OK(star_find(b.s, &agent, b.a, &h));
	ck_text(h.hub, "h2");
	ck_assert_int_eq(h.gen, c.gen);
	DO(&b, STR("PEXPIRE"), AGENT_KEY, STR("60000"));
	OK(star_extend(b.s, &agent, &h));
	ck_assert_int_gt(INT_OF(&b, STR("PTTL"), AGENT_KEY), 60000);
	OK(star_release(b.s, &agent, &h));
	IS(RC_CONFLICT, star_extend(b.s, &agent, &h));
	IS(RC_NOENT, star_find(b.s, &agent, b.a, &h));
	/* Generations go on, also where the clock is behind. */
	DO(&b, STR("HSET"), AGENT_KEY, STR("gen"), STR("9000000000000"));
	ck_assert_int_eq(claim(&b, &agent, "h1").gen, 9000000000001);
	state_fixture_stop(&b);
}

TEST(an_identity_stays_its_users_for_a_day)
{
	struct star_claim c = {
		.hub = STR("h1"), .user = STR("bob"), .session = STR("s2")
	};
	struct star_holder h = { STR("h1"), 0 };
	struct star_identity other = agent;
	struct state_fixture b;

	state_fixture_start(&b);
	h.gen = claim(&b, &agent, "h1").gen;
	IS(RC_DENIED, star_claim(b.s, &agent, &c, b.a));
	OK(star_release(b.s, &agent, &h));
	IS(RC_DENIED, star_claim(b.s, &agent, &c, b.a));
	c.any_user = true;
	OK(star_claim(b.s, &agent, &c, b.a));
	c.any_user = false;
	IS(RC_DENIED, star_claim(b.s, &agent, &c, b.a));
	h = (struct star_holder){ STR("h1"), claim(&b, &agent, "h1").gen };
	OK(star_release(b.s, &agent, &h));
	ck_assert_int_gt(INT_OF(&b, STR("PTTL"), AGENT_KEY), 0);
	/* Another tenant, class or environment is another identity. */
	other.tenant = STR("other");
	OK(star_claim(b.s, &other, &c, b.a));
	other = agent;
	other.class = STR("human");
	OK(star_claim(b.s, &other, &c, b.a));
	other = agent;
	other.name = STR("venus/agent_001");
	OK(star_claim(b.s, &other, &c, b.a));
	state_fixture_stop(&b);
}

/* Renew as hub, and expect n hubs, of which some are dead. */
static void
renew(struct state_fixture *b, struct star_renewal r, size_t n, size_t dead)
{
	size_t i;

	OK(star_hub_renew(b->s, &r, b->a));
	ck_assert_uint_eq(r.n, n);
	for (i = 0; i < n; i++)
		dead -= r.list[i].dead;
	ck_assert_uint_eq(dead, 0);
}

TEST(a_hub_is_alive_while_it_renews_that)
{
	struct star_renewal one = { STR_INIT("h1"), 60000, true, false, NULL,
		0 },
			    two = { STR_INIT("h~2"), 60000, true, true, NULL,
				    0 };
	struct state_fixture b;

	state_fixture_start(&b);
	renew(&b, one, 1, 0);
	renew(&b, two, 2, 0);
	one.first = two.first = false;
	renew(&b, one, 2, 0);
	/* It stood still; nobody has noticed yet. */
	DO(&b, STR("ZADD"), STR("soul:star:hubs:1"), STR("1000"), STR("h1"));
	renew(&b, one, 2, 0);
	DO(&b, STR("ZADD"), STR("soul:star:hubs:1"), STR("1000"), STR("h1"));
	renew(&b, two, 2, 1);
	/* Once it is dead, it is for ever. */
	IS(RC_CONFLICT, star_hub_renew(b.s, &one, b.a));
	OK(star_hub_forget(b.s, STR("h1")));
	IS(RC_CONFLICT, star_hub_renew(b.s, &one, b.a));
	OK(star_hub_end(b.s, STR("h~2")));
	IS(RC_CONFLICT, star_hub_renew(b.s, &two, b.a));
	two.ttl_ms = 0;
	IS(RC_INVALID, star_hub_renew(b.s, &two, b.a));
	state_fixture_stop(&b);
}

TEST(a_hub_lists_its_rooms)
{
	const struct star_room venus = { STR("acme"), STR("venus / \xc3\xa9") };
	struct star_room *rooms;
	struct state_fixture b;
	size_t n;

	state_fixture_start(&b);
	OK(star_hub_add_room(b.s, STR("h1"), &mars));
	OK(star_hub_add_room(b.s, STR("h1"), &mars));
	OK(star_hub_add_room(b.s, STR("h1"), &venus));
	OK(star_hub_drop_room(b.s, STR("h1"), &mars));
	OK(star_hub_rooms(b.s, STR("h1"), b.a, &rooms, &n));
	ck_assert_uint_eq(n, 1);
	ck_text(rooms[0].tenant, "acme");
	ck_assert(str_eq(rooms[0].name, venus.name));
	OK(star_hub_rooms(b.s, STR("h2"), b.a, &rooms, &n));
	ck_assert_uint_eq(n, 0);
	state_fixture_stop(&b);
}

TEST(a_hub_reads_what_it_is_to_give_up_until_it_has)
{
	const struct star_outdated o = { STR_INIT("agent \xc3\xa9"), 7 };
	struct star_outdated_list none = { NULL, 0 }, list, later;
	struct star_outdated older;
	struct state_fixture b;

	state_fixture_start(&b);
	OK(star_outdate(b.s, STR("h1"), &o));
	OK(star_outdate(
	    b.s, STR("h1"), &(struct star_outdated){ STR("other"), 1 }));
	OK(star_read_outdated(b.s, STR("h2"), &none, b.a, &list));
	ck_assert_uint_eq(list.n, 0);
	OK(star_read_outdated(b.s, STR("h1"), &none, b.a, &list));
	ck_assert_uint_eq(list.n, 2);
	ck_text(list.v[0].key, "other");
	ck_assert(str_eq(list.v[1].key, o.key));
	ck_assert_int_eq(list.v[1].gen, 7);
	OK(star_is_outdated(b.s, STR("h1"), o.key));
	/* A newer claim than the one that was read is not done. */
	older = o;
	older.gen = 6;
	list = (struct star_outdated_list){ &older, 1 };
	OK(star_read_outdated(b.s, STR("h1"), &list, b.a, &later));
	ck_assert_uint_eq(later.n, 2);
	list = later;
	OK(star_read_outdated(b.s, STR("h1"), &list, b.a, &later));
	ck_assert_uint_eq(later.n, 0);
	IS(RC_NOENT, star_is_outdated(b.s, STR("h1"), o.key));
	state_fixture_stop(&b);
}

TEST(an_older_claim_never_replaces_a_member)
{
	struct star_member one = member("a", "h1", 1), two;
	struct star_member *list;
	struct state_fixture b;
	bool new;
	size_t n;

	two = member("a", "h2", 2);
	state_fixture_start(&b);
	OK(star_room_join(b.s, &mars, &one, &new));
	ck_assert(new);
	OK(star_room_join(b.s, &mars, &two, &new));
	ck_assert(!new);
	IS(RC_CONFLICT, star_room_join(b.s, &mars, &one, &new));
	IS(RC_NOENT, star_room_leave(b.s, &mars, &one));
	OK(star_room_read(b.s, &mars, b.a, &list, &n));
	ck_assert_uint_eq(n, 1);
	ck_text(list[0].class, "agent");
	ck_text(list[0].name, "a");
	ck_text(list[0].holder.hub, "h2");
	ck_assert_int_eq(list[0].holder.gen, 2);
	OK(star_room_leave(b.s, &mars, &two));
	OK(star_room_read(b.s, &mars, b.a, &list, &n));
	ck_assert_uint_eq(n, 0);
	state_fixture_stop(&b);
}

TEST(each_member_of_a_dead_hub_is_removed_by_one)
{
	struct star_member *list;
	struct state_fixture b;
	bool new;
	size_t n;

	state_fixture_start(&b);
	OK(star_room_join(b.s, &mars,
	    &(struct star_member){
		STR("agent"), STR("a/b c"), { STR("h1"), 1 } },
	    &new));
	OK(star_room_join(b.s, &mars,
	    &(struct star_member){ STR("human"), STR("a"), { STR("h2"), 7 } },
	    &new));
	OK(star_room_sweep(b.s, &mars, STR("h1"), b.a, &list, &n));
	ck_assert_uint_eq(n, 1);
	ck_text(list[0].name, "a/b c");
	ck_assert_int_eq(list[0].holder.gen, 1);
	OK(star_room_sweep(b.s, &mars, STR("h1"), b.a, &list, &n));
	ck_assert_uint_eq(n, 0);
	OK(star_room_read(b.s, &mars, b.a, &list, &n));
	ck_assert_uint_eq(n, 1);
	ck_text(list[0].class, "human");
	state_fixture_stop(&b);
}

TEST(a_room_has_a_limit)
{
	struct star_member m = member("one", "h1", 1);
	struct state_fixture b;
	bool new;

	state_fixture_start(&b);
	DO(&b, STR("EVAL"),
	    STR("for i = 1, tonumber(ARGV[1]) do redis.call('HSET', KEYS[1], "
		"i, 'h 1') end"),
	    STR("1"),
	    key_in("acme:environment:mars", "soul:star:room:", ":acme:mars:1"),
	    STR("10000"));
	IS(RC_RETRY, star_room_join(b.s, &mars, &m, &new));
	state_fixture_stop(&b);
}

/* ---- events ---- */

static void
append(struct state_fixture *b, const struct star_claim *c, int64_t first,
    const struct str *json, size_t n, enum rc want)
{
	const struct star_events e = { .holder = { c->hub, c->gen },
		.first = first,
		.json = json,
		.n = n,
		.retain = 1000 };

	IS(want, star_events_append(b->s, &mars, &e));
}

TEST(events_are_numbered_over_generations)
{
	const struct str json[] = { STR_INIT("{1}"), STR_INIT("{2}"),
		STR_INIT("{3}") };
	struct star_page p = { .after = 0, .max = 100 };
	struct star_claim one, two;
	struct state_fixture b;

	state_fixture_start(&b);
	one = claim(&b, &mars_id, "h1");
	ck_assert_int_eq(one.seq, 0);
	append(&b, &one, 1, json, 3, RC_OK);
	two = claim(&b, &mars_id, "h2");
	ck_assert_int_eq(two.seq, 3);
	/* The older holder can add nothing. */
	append(&b, &one, 4, json, 1, RC_CONFLICT);
	append(&b, &two, 4, json, 2, RC_OK);
	OK(star_events_read(b.s, &mars, b.a, &p));
	ck_assert_uint_eq(p.n, 5);
	ck_assert_int_eq(p.newest, 5);
	ck_assert(!p.more && !p.gap);
	ck_assert_int_eq(p.event[2].seq, 3);
	ck_assert_int_eq(p.event[2].gen, one.gen);
	ck_text(p.event[2].json, "{3}");
	ck_assert_int_eq(p.event[3].gen, two.gen);
	p = (struct star_page){ .after = 3, .max = 1 };
	OK(star_events_read(b.s, &mars, b.a, &p));
	ck_assert_uint_eq(p.n, 1);
	ck_assert_int_eq(p.event[0].seq, 4);
	ck_assert(p.more && !p.gap);
	state_fixture_stop(&b);
}

TEST(expired_events_are_a_gap)
{
	const struct str json = STR("{}");
	struct star_page p = { .after = 1, .max = 100 };
	struct state_fixture b;
	struct star_claim c;

	state_fixture_start(&b);
	c = claim(&b, &mars_id, "h1");
	for (int64_t i = 1; i <= 3; i++)
		append(&b, &c, i, &json, 1, RC_OK);
	DO(&b, STR("XTRIM"), MARS_EVENTS, STR("MAXLEN"), STR("1"));
	OK(star_events_read(b.s, &mars, b.a, &p));
	ck_assert_uint_eq(p.n, 1);
	ck_assert(p.gap);
	p = (struct star_page){ .after = 2, .max = 100 };
	OK(star_events_read(b.s, &mars, b.a, &p));
	ck_assert(!p.gap);
	DO(&b, STR("DEL"), MARS_EVENTS);
	OK(star_events_read(b.s, &mars, b.a, &p));
	ck_assert_uint_eq(p.n, 0);
	ck_assert(p.gap);
	p = (struct star_page){ .after = 3, .max = 100 };
	OK(star_events_read(b.s, &mars, b.a, &p));
	ck_assert(!p.gap);
	state_fixture_stop(&b);
}

TEST(what_is_no_record_is_rejected)
{
	struct star_claim c = {
		.hub = STR("h1"), .user = STR("alice"), .session = STR("")
	};
	struct star_page p = { .after = -1, .max = 1 };
	struct state_fixture b;

	state_fixture_start(&b);
	IS(RC_INVALID, star_claim(b.s, &agent, &c, b.a));
	claim(&b, &agent, "h1");
	DO(&b, STR("HSET"), AGENT_KEY, STR("v"), STR("9"));
	c.session = STR("s");
	IS(RC_INVALID, star_claim(b.s, &agent, &c, b.a));
	IS(RC_INVALID, star_events_read(b.s, &mars, b.a, &p));
	p.after = 0;
	p.max = 0;
	IS(RC_INVALID, star_events_read(b.s, &mars, b.a, &p));
	state_fixture_stop(&b);
}
