/* Records: of another format, damaged, and after a kill of Redis. */
#include "state/memory.h"
#include "state/session.h"
#include "state/soul.h"
#include "state/state.h"
#include "state/terminal.h"
#include "state/turn.h"
#include "testkit/state_fixture.h"
#include "testkit/terminal_fixture.h"

static const struct session_key skey = { STR_INIT("u"), STR_INIT("s") };
static const struct turn_slot slot = { { STR_INIT("u"), STR_INIT("s") },
	STR_INIT("i"), STR_INIT("t") };
static const struct soul soul = { STR_INIT("soul"), STR_INIT("u"),
	STR_INIT("n"), STR_INIT("INFJ"), STR_INIT("m"), { 1 } };

/* Every function that reads a record; returns its result. */
static enum rc
on_terminal(struct state_fixture *b, int which)
{
	struct terminal_snapshot snap = { .version = 1, .json = STR("[]") };
	struct terminal t;
	int64_t v;

	switch (which) {
	case 0:
		return terminal_read(
		    b->s, STR("t"), STATE_FIXTURE_TTL_MS, b->a, &t);
	case 1:
		return terminal_fixture_put_online(
		    b->s, &b->w, STR("t"), true, NULL);
	case 2:
		return terminal_fixture_heartbeats(
		    b->s, &b->w, &STR("t"), 1, NULL);
	case 3:
		return terminal_fixture_put_skills(
		    b->s, &b->w, STR("t"), &snap, &v);
	case 4:
		return terminal_fixture_put_catalog(
		    b->s, &b->w, STR("t"), &snap, &v);
	case 5:
		return terminal_fixture_put_rejection(b->s, &b->w, STR("t"),
		    &(struct terminal_rejection){
			TERMINAL_REJECTED_SKILLS, STR("{}") });
	case 6:
		return terminal_fixture_bind(
		    b->s, STR("t"), STR("u"), STR("soul"));
	default:
		return terminal_unbind(b->s, STR("t"), STR("u"));
	}
}
#define TERMINAL_CALLS 8

#define SOUL_KEY "soul:soul:{b0562}:u:soul"

static enum rc
on_soul(struct state_fixture *b, int which)
{
	struct soul out;

	switch (which) {
	case 0:
		return soul_read(b->s, soul.user_id, soul.id, b->a, &out);
	case 1:
		return soul_delete(b->s, soul.user_id, soul.id, NULL);
	default:
		return terminal_fixture_bind(
		    b->s, STR("t2"), STR("u"), STR("soul"));
	}
}
#define SOUL_CALLS 3

static enum rc
on_session(struct state_fixture *b, int which)
{
	struct session_list l;
	struct session out;

	switch (which) {
	case 0:
		return session_read(b->s, &skey, b->a, &out);
	case 1:
		return session_append(b->s, &skey, &STR("1"), 1, NULL);
	case 2:
		return session_user_input(b->s, &skey, STR("x"), STR("t"), 1);
	case 3:
		return session_messages(b->s, &skey,
		    (struct session_page){ .after = 0, .max = 1 }, b->a, &l);
	case 4:
		return session_summarise(b->s, &skey,
		    &(struct session_summary){
			.text = STR("x"), .after = 0, .number = 1 });
	case 5:
		return turn_fixture_append(b->s, &slot, &STR("1"), 1);
	default:
		return session_delete(b->s, &skey);
	}
}
#define SESSION_CALLS 7

static enum rc
on_credential(struct state_fixture *b, int which)
{
	struct credential c = { .terminal_id = STR("t") };

	switch (which) {
	case 0:
		return credential_read(b->s, STR("t"), b->a, &c);
	case 1:
		return credential_mint(b->s, &c, NULL, NULL);
	case 2:
		return credential_rotate(b->s, STR("t"), STR("h"));
	default:
		return credential_revoke(b->s, STR("t"), NULL, NULL);
	}
}
#define CREDENTIAL_CALLS 4

static const struct {
	const char *key;
	enum rc (*call)(struct state_fixture *b, int which);
	int calls;
} records[] = {
	{ "soul:terminal:{t}", on_terminal, TERMINAL_CALLS },
	{ SOUL_KEY, on_soul, SOUL_CALLS },
	{ "soul:session:{b0562}:u:s", on_session, SESSION_CALLS },
	{ "soul:credential:{t}", on_credential, CREDENTIAL_CALLS },
};

/* A digest of the whole database. */
static struct state_reply *
digest(struct state_fixture *b)
{
	static const struct state_script all = {
		.text =
		    "local l=redis.call('KEYS','*') table.sort(l) local out='' "
		    "for _,k in ipairs(l) do out=redis.sha1hex(out..k..' '.."
		    "redis.call('DUMP',k)) end return out",
		.sha = "fa4a17f34bb449568409bcc6d75fc0f7de415c97",
	};
	struct state_call c = { .script = &all };
	struct state_reply *r;

	OK(state_eval(b->s, &c, &r));
	ck_assert_uint_eq(state_reply_str(r).n, 40);
	return r;
}

/* Every function rejects the record, and nothing changes. */
static void
ck_refused(struct state_fixture *b, size_t i)
{
	struct state_reply *before = digest(b), *after;
	int k;

	for (k = 0; k < records[i].calls; k++)
		ck_assert_msg(records[i].call(b, k) == RC_INVALID, "%s: %d",
		    records[i].key, k);
	after = digest(b);
	ck_assert(str_eq(state_reply_str(before), state_reply_str(after)));
	state_reply_free(before);
	state_reply_free(after);
}

TEST(unknown_formats_are_rejected)
{
	struct str key;
	int64_t ahead;
	struct state_fixture b;
	size_t i;

	state_fixture_start(&b);
	OK(soul_create(b.s, &soul, STR("x")));
	OK(turn_fixture_enter(b.s, &slot, &ahead));
	OK(on_credential(&b, 1));
	for (i = 0; i < NELEM(records); i++) {
		key = str_of(records[i].key);
		DO(&b, STR("COPY"), key, STR("kept"));
		/* A newer format. */
		DO(&b, STR("HSET"), key, STR("v"), STR("9"));
		ck_refused(&b, i);
		/* A hash that is no record. */
		DO(&b, STR("DEL"), key);
		DO(&b, STR("HSET"), key, STR("x"), STR("y"));
		ck_refused(&b, i);
		/* A key of another type. */
		DO(&b, STR("SET"), key, STR("x"));
		ck_refused(&b, i);
		DO(&b, STR("DEL"), key);
		DO(&b, STR("COPY"), STR("kept"), key);
		DO(&b, STR("DEL"), STR("kept"));
	}
	state_fixture_stop(&b);
}

/* Invalid fields, and the result of reading them. */
TEST(damaged_fields_are_errors)
{
	static const struct {
		const char *key, *field, *value;
		enum rc (*read)(struct state_fixture *b, int which);
	} damage[] = {
		{ "soul:terminal:{t}", "sv", "x", on_terminal },
		{ "soul:terminal:{t}", "cv", "1.5", on_terminal },
		{ "soul:terminal:{t}", "seen", "", on_terminal },
		{ "soul:terminal:{t}", "u", "no token", on_terminal },
		{ "soul:terminal:{t}", "s", "", on_terminal },
		{ SOUL_KEY, "u", "~", on_soul },
		{ SOUL_KEY, "created", "now", on_soul },
		{ "soul:session:{b0562}:u:s", "sumn", "-", on_session },
		{ "soul:session:{b0562}:u:s", "active", "x", on_session },
		{ "soul:credential:{t}", "ten", "~", on_credential },
		{ "soul:credential:{t}", "changed", "x", on_credential },
	};
	struct str key;
	struct state_fixture b;
	size_t i;

	state_fixture_start(&b);
	for (i = 0; i < NELEM(damage); i++) {
		key = str_of(damage[i].key);
		DO(&b, STR("FLUSHALL"));
		OK(soul_create(b.s, &soul, STR("x")));
		OK(terminal_fixture_put_online(
		    b.s, &b.w, STR("t"), true, NULL));
		OK(session_append(b.s, &skey, &STR("1"), 1, NULL));
		OK(on_credential(&b, 1));
		OK(damage[i].read(&b, 0));
		DO(&b, STR("HSET"), key, str_of(damage[i].field),
		    str_of(damage[i].value));
		IS(RC_INVALID, damage[i].read(&b, 0));
	}
	DO(&b, STR("HDEL"), STR(SOUL_KEY), STR("u"));
	IS(RC_INVALID, on_soul(&b, 0));
	state_fixture_stop(&b);
}

TEST(without_redis_every_function_fails)
{
	struct soul_state st = {
		.user_id = STR("u"), .soul_id = STR("soul"), .version = 1
	};
	struct soul_tick_bucket bucket = { .number = 562 };
	struct soul_tick t = {
		.interval_ms = 3000, .bucket = &bucket, .n_buckets = 1
	};
	struct memory_list memories;
	struct soul_due *list;
	int64_t v;
	struct state_fixture b;
	size_t i, n;
	int k;
	bool yes;

	state_fixture_start(&b);
	tk_server_stop(&b.redis, SIGKILL);
	state_fixture_wait_down(&b);
	for (i = 0; i < NELEM(records); i++)
		for (k = 0; k < records[i].calls; k++)
			IS(RC_DOWN, records[i].call(&b, k));
	IS(RC_DOWN, soul_state_get(b.s, &st, 1, b.a));
	st.version = 1;
	IS(RC_DOWN, soul_state_cas(b.s, &st, 1, &yes));
	ck_assert(!yes);
	IS(RC_DOWN, soul_tick_claim(b.s, &t, b.a, &list, &n));
	IS(RC_DOWN, lease_acquire(b.s, STR("x"), STR("y"), 1000, &v));
	IS(RC_DOWN, turn_fixture_enter(b.s, &slot, &v));
	IS(RC_DOWN, turn_check_head(b.s, &slot));
	IS(RC_DOWN,
	    memory_all(b.s, &(struct memory_scope){ STR("u"), STR("s") }, 0,
		b.a, &memories));
	state_fixture_stop(&b);
}

/* Acknowledged writes survive a kill, and scripts are loaded anew. */
TEST(a_kill_of_redis_loses_nothing)
{
	struct terminal_snapshot snap = { .version = 4, .json = STR("[4]") };
	struct memory_scope scope = { STR("u"), STR("soul") };
	struct memory_item item = { .id = STR("m"), .json = STR("{}") };
	struct soul_state st = {
		.user_id = STR("u"), .soul_id = soul.id, .version = 1
	};
	struct memory_list memories;
	struct session_list l;
	struct session session;
	struct terminal t;
	int64_t v, epoch;
	struct state_fixture b;
	bool won;

	state_fixture_start(&b);
	OK(lease_acquire(b.s, STR("bridge"), STR("me"), 60000, &epoch));
	b.w.epoch = epoch;
	OK(soul_create(b.s, &soul, STR("x")));
	OK(terminal_fixture_put_skills(b.s, &b.w, STR("t"), &snap, &v));
	OK(terminal_fixture_bind(b.s, STR("t"), STR("u"), soul.id));
	st.bytes = STR("changed");
	OK(soul_state_cas(b.s, &st, 1, &won));
	ck_assert(won);
	OK(turn_fixture_enter(b.s, &slot, &v));
	OK(session_user_input(b.s, &skey, soul.id, STR("t"), 60000));
	OK(turn_fixture_append(b.s, &slot, &STR("message"), 1));
	OK(session_summarise(b.s, &skey,
	    &(struct session_summary){
		.text = STR("sum"), .after = 0, .number = 1 }));
	OK(memory_put(b.s, &scope, &item, clock_wall()));

	tk_server_stop(&b.redis, SIGKILL);
	state_fixture_wait_down(&b);
	tk_server_restart(&b.redis);
	state_fixture_wait_up(&b);

	OK(lease_acquire(b.s, STR("bridge"), STR("other"), 60000, &v));
	ck_assert_int_eq(v, 0);
	OK(lease_acquire(b.s, STR("bridge"), STR("me"), 60000, &v));
	ck_assert_int_eq(v, epoch);
	OK(terminal_read(b.s, STR("t"), STATE_FIXTURE_TTL_MS, b.a, &t));
	ck_assert(t.present);
	ck_text(t.skills, "[4]");
	ck_text(t.soul_id, "soul");
	OK(soul_state_get(b.s, &st, 1, b.a));
	ck_assert_int_eq(st.version, 2);
	ck_text(st.bytes, "changed");
	ck_assert_int_eq(
	    INT_OF(&b, STR("ZCARD"), STR("soul:ticks:{b0562}:1")), 1);
	ck_assert_int_eq(
	    INT_OF(&b, STR("ZCARD"), STR("soul:idle:{b0562}:1")), 1);
	OK(session_read(b.s, &skey, b.a, &session));
	ck_text(session.summary, "sum");
	OK(session_messages(b.s, &skey,
	    (struct session_page){ .after = 0, .max = 10 }, b.a, &l));
	ck_assert_uint_eq(l.n, 1);
	ck_text(l.message[0].json, "message");
	OK(turn_check_head(b.s, &slot));
	OK(memory_all(b.s, &scope, 0, b.a, &memories));
	ck_assert_uint_eq(memories.n, 1);
	state_fixture_stop(&b);
}
