/* Terminals: bindings, and the sets of a user's and a soul's terminals. */
#include "state/keys.h"
#include "state/soul.h"
#include "testkit/state_fixture.h"
#include "testkit/terminal_fixture.h"

static const struct str alice = STR_INIT("alice");
static const struct str bob = STR_INIT("bob@家");

static void
make_soul(struct state_fixture *b, struct str user, const char *id)
{
	struct soul soul = { .id = str_of(id),
		.user_id = user,
		.name = str_of(id),
		.mbti_type = STR("INFJ"),
		.model = STR("m"),
		.created = { 1000 } };

	OK(soul_create(b->s, &soul, STR("x")));
}

static void
ck_bound(
    struct state_fixture *b, struct str id, const char *user, const char *soul)
{
	struct terminal t;

	OK(terminal_read(b->s, id, STATE_FIXTURE_TTL_MS, b->a, &t));
	ck_text(t.user_id, user);
	ck_text(t.soul_id, soul);
}

/* Check the user's terminals: one per letter of want. */
static void
ck_list(struct state_fixture *b, struct str user, const char *want)
{
	struct terminal_listed *ids;
	size_t i, n;

	OK(terminal_list(b->s, user, b->a, &ids, &n));
	ck_assert_uint_eq(n, strlen(want));
	for (i = 0; i < n; i++)
		ck_assert(str_eq(ids[i].id, (struct str){ want + i, 1 }));
}

static int64_t
bodies(struct state_fixture *b, const char *soul)
{
	return INT_OF(
	    b, STR("HLEN"), terminal_fixture_key(KEY_BODIES, "alice", soul));
}

TEST(binding_depends_on_owners)
{
	struct state_fixture b;

	state_fixture_start(&b);
	make_soul(&b, alice, "s1");
	make_soul(&b, alice, "s2");
	make_soul(&b, bob, "sb");
	IS(RC_NOENT, terminal_fixture_bind(b.s, STR("a"), alice, STR("none")));
	IS(RC_NOENT, terminal_fixture_bind(b.s, STR("a"), alice, STR("sb")));
	ck_bound(&b, STR("a"), NULL, NULL);

	OK(terminal_fixture_bind(b.s, STR("a"), alice, STR("s1")));
	OK(terminal_fixture_bind(b.s, STR("a"), alice, STR("s1")));
	ck_bound(&b, STR("a"), "alice", "s1");
	IS(RC_CONFLICT, terminal_fixture_bind(b.s, STR("a"), bob, STR("sb")));
	ck_bound(&b, STR("a"), "alice", "s1");
	ck_assert_int_eq(bodies(&b, "s1"), 1);

	OK(terminal_fixture_bind(b.s, STR("a"), alice, STR("s2")));
	ck_bound(&b, STR("a"), "alice", "s2");
	ck_assert_int_eq(bodies(&b, "s1"), 0);
	ck_assert_int_eq(bodies(&b, "s2"), 1);
	ck_list(&b, alice, "a");

	IS(RC_DENIED, terminal_unbind(b.s, STR("a"), bob));
	OK(terminal_unbind(b.s, STR("a"), alice));
	IS(RC_NOENT, terminal_unbind(b.s, STR("a"), alice));
	ck_assert_int_eq(bodies(&b, "s2"), 0);
	ck_list(&b, alice, "");
	OK(terminal_fixture_bind(b.s, STR("a"), bob, STR("sb")));
	ck_bound(&b, STR("a"), "bob@家", "sb");
	ck_list(&b, bob, "a");

	IS(RC_INVALID, terminal_fixture_bind(b.s, STR(""), bob, STR("sb")));
	IS(RC_INVALID,
	    terminal_fixture_bind(b.s, STR("a"), (struct str){ 0 }, STR("sb")));
	IS(RC_INVALID, terminal_fixture_bind(b.s, STR("a"), bob, STR("\n")));
	IS(RC_INVALID, terminal_unbind(b.s, STR("a"), STR("")));
	state_fixture_stop(&b);
}

TEST(an_owner_is_known_since_the_binding)
{
	struct state_fixture b;
	struct terminal_binding bind = { .terminal_id = STR("t"),
		.user_id = bob,
		.soul_id = STR("s1"),
		.ttl_ms = STATE_FIXTURE_TTL_MS };
	struct wall before = clock_wall();
	struct terminal_owner o;
	bool ticks;

	state_fixture_start(&b);
	make_soul(&b, bob, "s1");
	OK(terminal_read_owner(b.s, STR("t"), &o));
	ck_assert_str_eq(o.user_id, "");
	OK(terminal_bind(b.s, &bind, &ticks));
	OK(terminal_read_owner(b.s, STR("t"), &o));
	ck_assert(str_eq(str_of(o.user_id), bob));
	ck_assert_int_ge(o.since.ms, before.ms);
	ck_assert_int_le(o.since.ms, clock_wall().ms);
	OK(terminal_unbind(b.s, STR("t"), bob));
	OK(terminal_read_owner(b.s, STR("t"), &o));
	ck_assert_str_eq(o.user_id, "");
	ck_assert_int_eq(o.since.ms, 0);
	state_fixture_stop(&b);
}

TEST(an_unbound_terminal_is_bound_by_one)
{
	struct state_fixture b;

	state_fixture_start(&b);
	make_soul(&b, alice, "s1");
	make_soul(&b, alice, "s2");
	make_soul(&b, bob, "sb");
	IS(RC_NOENT,
	    terminal_fixture_bind_if_unbound(
		b.s, STR("a"), alice, STR("none")));
	IS(RC_NOENT,
	    terminal_fixture_bind_if_unbound(b.s, STR("a"), alice, STR("sb")));
	ck_bound(&b, STR("a"), NULL, NULL);

	OK(terminal_fixture_bind_if_unbound(b.s, STR("a"), alice, STR("s1")));
	IS(RC_CONFLICT,
	    terminal_fixture_bind_if_unbound(b.s, STR("a"), alice, STR("s1")));
	IS(RC_CONFLICT,
	    terminal_fixture_bind_if_unbound(b.s, STR("a"), alice, STR("s2")));
	IS(RC_CONFLICT,
	    terminal_fixture_bind_if_unbound(b.s, STR("a"), bob, STR("sb")));
	ck_bound(&b, STR("a"), "alice", "s1");
	ck_assert_int_eq(bodies(&b, "s2"), 0);
	ck_list(&b, alice, "a");

	OK(terminal_fixture_bind(b.s, STR("a"), alice, STR("s2")));
	OK(terminal_unbind(b.s, STR("a"), alice));
	OK(terminal_fixture_bind_if_unbound(b.s, STR("a"), bob, STR("sb")));
	ck_bound(&b, STR("a"), "bob@家", "sb");
	IS(RC_INVALID,
	    terminal_fixture_bind_if_unbound(b.s, STR("a"), bob, STR("\n")));
	state_fixture_stop(&b);
}

TEST(unbinding_leaves_reported_fields)
{
	struct terminal_snapshot snap = { .version = 3, .json = STR("[3]") };
	struct terminal t;
	int64_t current;
	struct state_fixture b;

	state_fixture_start(&b);
	make_soul(&b, alice, "s1");
	OK(terminal_fixture_put_skills(b.s, &b.w, STR("a"), &snap, &current));
	OK(terminal_fixture_bind(b.s, STR("a"), alice, STR("s1")));
	OK(terminal_unbind(b.s, STR("a"), alice));
	OK(terminal_read(b.s, STR("a"), STATE_FIXTURE_TTL_MS, b.a, &t));
	ck_assert(t.known && t.present);
	ck_text(t.skills, "[3]");

	/* One that was only bound is unknown afterwards. */
	OK(terminal_fixture_bind(b.s, STR("b"), alice, STR("s1")));
	OK(terminal_read(b.s, STR("b"), STATE_FIXTURE_TTL_MS, b.a, &t));
	ck_assert(t.known && !t.present);
	OK(terminal_unbind(b.s, STR("b"), alice));
	OK(terminal_read(b.s, STR("b"), STATE_FIXTURE_TTL_MS, b.a, &t));
	ck_assert(!t.known);
	state_fixture_stop(&b);
}

TEST(lists_are_sorted_by_bytes)
{
	/* Their tokens have another order. */
	static const char *const ids[] = { "b", "!", "~", "A", "a", "Z" };
	struct state_fixture b;
	size_t i;

	state_fixture_start(&b);
	make_soul(&b, alice, "s1");
	ck_list(&b, alice, "");
	for (i = 0; i < NELEM(ids); i++)
		OK(terminal_fixture_bind(
		    b.s, str_of(ids[i]), alice, STR("s1")));
	ck_list(&b, alice, "!AZab~");
	ck_list(&b, bob, "");
	state_fixture_stop(&b);
}

TEST(the_bindings_of_a_user_are_limited)
{
	static const struct state_script fill = {
		.text = "for i=1,tonumber(ARGV[1]) do "
			"redis.call('HSET',KEYS[1],'x'..i,'s 1') end return 0",
		.sha = "43005ce1ae10ae8b7b24fce127a3badab7b5dae0",
	};
	const struct str key =
	    terminal_fixture_key(KEY_USER_TERMINALS, "alice", NULL);
	char num[STR_NUM_MAX];
	const struct str n = str_num(TERMINAL_LIST_MAX - 1, num);
	struct state_call c = { &fill, &key, 1, &n, 1 };
	struct terminal_listed *ids;
	struct state_fixture b;
	size_t got;

	state_fixture_start(&b);
	make_soul(&b, alice, "s1");
	OK(state_eval(b.s, &c, NULL));
	OK(terminal_fixture_bind(b.s, STR("a"), alice, STR("s1")));
	IS(RC_RETRY, terminal_fixture_bind(b.s, STR("b"), alice, STR("s1")));
	OK(terminal_fixture_bind(b.s, STR("a"), alice, STR("s1")));
	OK(terminal_list(b.s, alice, b.a, &ids, &got));
	ck_assert_uint_eq(got, TERMINAL_LIST_MAX);
	ck_text(ids[0].id, "a");
	state_fixture_stop(&b);
}

TEST(deleting_a_soul_unbinds)
{
	struct soul_unbound unbound = { 0 };
	struct terminal t;
	struct state_fixture b;

	state_fixture_start(&b);
	unbound.a = b.a;
	make_soul(&b, alice, "s1");
	make_soul(&b, alice, "s2");
	OK(terminal_fixture_bind(b.s, STR("a"), alice, STR("s1")));
	OK(terminal_fixture_bind(b.s, STR("b"), alice, STR("s2")));
	OK(terminal_fixture_put_online(b.s, &b.w, STR("c"), true, NULL));
	OK(terminal_fixture_bind(b.s, STR("c"), alice, STR("s1")));
	ck_assert_int_eq(INT_OF(&b, STR("ZCARD"),
			     terminal_fixture_key(KEY_TICKS, "alice", NULL)),
	    1);

	IS(RC_NOENT, soul_delete(b.s, bob, STR("s1"), &unbound));
	ck_assert_uint_eq(unbound.total, 0);
	ck_list(&b, alice, "abc");
	OK(soul_delete(b.s, alice, STR("s1"), &unbound));
	ck_assert_uint_eq(unbound.n, 2);
	ck_assert_uint_eq(unbound.total, 2);
	ck_assert(str_eq(unbound.ids[0], STR("a")) ||
	    str_eq(unbound.ids[1], STR("a")));
	ck_assert(str_eq(unbound.ids[0], STR("c")) ||
	    str_eq(unbound.ids[1], STR("c")));
	IS(RC_NOENT, soul_delete(b.s, alice, STR("s1"), NULL));
	ck_list(&b, alice, "b");
	OK(terminal_read(b.s, STR("a"), STATE_FIXTURE_TTL_MS, b.a, &t));
	ck_assert(!t.known);
	OK(terminal_read(b.s, STR("c"), STATE_FIXTURE_TTL_MS, b.a, &t));
	ck_assert(t.present);
	ck_text(t.soul_id, NULL);
	ck_text(t.user_id, NULL);
	ck_assert_int_eq(bodies(&b, "s1"), 0);
	ck_assert_int_eq(INT_OF(&b, STR("ZCARD"),
			     terminal_fixture_key(KEY_TICKS, "alice", NULL)),
	    0);
	IS(RC_NOENT, terminal_fixture_bind(b.s, STR("a"), alice, STR("s1")));
	OK(terminal_fixture_bind(b.s, STR("a"), alice, STR("s2")));
	state_fixture_stop(&b);
}

#define RACE_ROUNDS    60
#define RACE_TERMINALS 5

/* Two users compete for terminals; one deletes a soul now and then. */
static void
quarrel(struct state_fixture *r, int who)
{
	const struct str user = who % 2 == 0 ? alice : bob;
	struct state_fixture b = { .s = r->s };
	char soul[32], t[2] = "";
	int i;

	for (i = 0; i < RACE_ROUNDS; i++) {
		snprintf(soul, sizeof(soul), "s%d-%d", who, i / 10);
		t[0] = (char)('a' + i % RACE_TERMINALS);
		if (i % 10 == 0)
			make_soul(&b, user, soul);
		switch (
		    terminal_fixture_bind(b.s, str_of(t), user, str_of(soul))) {
		case RC_OK:
		case RC_CONFLICT:
			break;
		default:
			ck_abort();
		}
		if (i % 3 == who % 3 &&
		    terminal_unbind(b.s, str_of(t), user) == RC_BUG)
			ck_abort();
		if (i % 20 == 9)
			OK(soul_delete(b.s, user, str_of(soul), NULL));
	}
}

/* Nothing is being changed any more: what is too much goes, or is expired. */
static void
clean(struct state_fixture *r, struct str user)
{
	struct terminal_listed *list;
	struct terminal t;
	size_t i, n;

	OK(terminal_list(r->s, user, r->a, &list, &n));
	for (i = 0; i < n; i++) {
		OK(terminal_read(
		    r->s, list[i].id, STATE_FIXTURE_TTL_MS, r->a, &t));
		if (!str_eq(t.user_id, user))
			OK(terminal_list_drop(r->s, user, &list[i]));
	}
}

TEST(lists_have_all_that_is_bound_after_concurrent_changes)
{
	/* Each binding is in both hashes, and its soul exists. */
	static const struct state_script check = {
		.text =
		    "local function key(p,...) for _,k in"
		    " ipairs(redis.call('KEYS',string.format(p,...))) do"
		    " return k end return '?' end "
		    "local bound=0 "
		    "for _,k in"
		    " ipairs(redis.call('KEYS','soul:terminal:*')) do "
		    " local id=string.match(k,'{(.*)}') "
		    " local h=redis.call('HMGET',k,'u','s') "
		    " if h[1] then bound=bound+1 "
		    "  if redis.call('HEXISTS',key('soul:user:{b*}:%s:"
		    "terminals:1',h[1]),id)==0 then return -1 end "
		    "  if redis.call('HEXISTS',key('soul:bodies:{b*}:%s:%s:1',"
		    "h[1],h[2]),id)==0 then return -2 end "
		    "  if key('soul:soul:{b*}:%s:%s',h[1],h[2])=='?' then"
		    "   return -3 end end end "
		    "return bound",
		.sha = "d1f5f618009c4b0c5455a6d371ed95c54925c2d3",
	};
	struct state_call c = { .script = &check };
	struct tk_server redis;
	struct state_reply *reply;
	struct state_fixture r;

	tk_server_start(&redis, TK_REDIS);
	state_fixture_run_peers(redis.url, 4, quarrel);
	state_fixture_join(&r, &redis);
	clean(&r, alice);
	clean(&r, bob);
	OK(state_eval(r.s, &c, &reply));
	ck_assert_int_ge(state_reply_int(reply), 0);
	state_reply_free(reply);
	state_fixture_stop(&r);
}
