/*
 * What is recorded in several slots is changed in steps: a process that dies
 * between two of them leaves what its readers repair.
 */
#include "state/keys.h"
#include "state/scripts.h"
#include "state/soul.h"
#include "state/state_internal.h"
#include "state/terminal.h"
#include "testkit/state_fixture.h"
#include "testkit/terminal_fixture.h"

static const struct str alice = STR_INIT("alice");
static const struct str body = STR_INIT("t");

static void
make_soul(struct state_fixture *b, const char *id)
{
	struct soul soul = { .id = str_of(id),
		.user_id = alice,
		.name = str_of(id),
		.mbti_type = STR("INFJ"),
		.model = STR("m") };

	OK(soul_create(b->s, &soul, STR("0")));
}

static struct terminal_binding
binding_to(const char *soul)
{
	return (struct terminal_binding){ body, alice, str_of(soul),
		STATE_FIXTURE_TTL_MS };
}

/* The entry of the user's terminals, as if it had been written ms ago. */
static void
age_entry(struct state_fixture *b, const char *soul, int64_t ms)
{
	char entry[64];

	snprintf(entry, sizeof(entry), "%s %lld", soul,
	    (long long)(state_fixture_now(b) - ms));
	DO(b, STR("HSET"),
	    terminal_fixture_key(KEY_USER_TERMINALS, "alice", NULL), body,
	    str_of(entry));
}

/* As a reader does: the terminals that the user has, by their records. */
static size_t
list(struct state_fixture *b)
{
	struct terminal_listed *all;
	struct terminal t;
	size_t i, n, bound = 0;

	OK(terminal_list(b->s, alice, b->a, &all, &n));
	for (i = 0; i < n; i++) {
		OK(terminal_read(
		    b->s, all[i].id, STATE_FIXTURE_TTL_MS, b->a, &t));
		if (str_eq(t.user_id, alice))
			bound++;
		else
			OK(terminal_list_drop(b->s, alice, &all[i]));
	}
	return bound;
}

static int64_t
entries(struct state_fixture *b)
{
	return INT_OF(b, STR("HLEN"),
	    terminal_fixture_key(KEY_USER_TERMINALS, "alice", NULL));
}

static int64_t
bodies(struct state_fixture *b, const char *soul)
{
	return INT_OF(
	    b, STR("HLEN"), terminal_fixture_key(KEY_BODIES, "alice", soul));
}

static int64_t
ticking(struct state_fixture *b)
{
	return INT_OF(
	    b, STR("ZCARD"), terminal_fixture_key(KEY_TICKS, "alice", NULL));
}

static void
ck_soul(struct state_fixture *b, const char *soul)
{
	struct terminal t;

	OK(terminal_read(b->s, body, STATE_FIXTURE_TTL_MS, b->a, &t));
	ck_text(t.soul_id, soul);
}

/* ---- binding ---- */

TEST(a_binding_that_ends_before_the_record_is_forgotten)
{
	struct terminal_binding to = binding_to("s1");
	struct binding_begun begun;
	char previous[ID_TOKEN_MAX];
	struct state_fixture b;

	state_fixture_start(&b);
	make_soul(&b, "s1");
	OK(binding_begin(b.s, &to, &begun));
	ck_assert(!begun.existed);
	/* It may yet be bound. */
	ck_assert_uint_eq(list(&b), 0);
	ck_assert_int_eq(entries(&b), 1);
	age_entry(&b, "s1", STEP_DEAD_MS - 1000);
	ck_assert_uint_eq(list(&b), 0);
	ck_assert_int_eq(entries(&b), 1);
	/* Now it cannot: the record would refuse it. */
	age_entry(&b, "s1", STEP_DEAD_MS + 1000);
	ck_assert_uint_eq(list(&b), 0);
	ck_assert_int_eq(entries(&b), 0);
	IS(RC_RETRY,
	    binding_set(
		b.s, &to, begun.at - STEP_MAX_MS - 1000, false, previous));
	ck_soul(&b, NULL);
	OK(binding_set(b.s, &to, begun.at, false, previous));
	ck_soul(&b, "s1");
	state_fixture_stop(&b);
}

TEST(an_entry_that_has_changed_is_not_dropped)
{
	struct terminal_binding to = binding_to("s1");
	struct terminal_listed *all;
	struct binding_begun begun;
	struct state_fixture b;
	size_t n;

	state_fixture_start(&b);
	make_soul(&b, "s1");
	OK(binding_begin(b.s, &to, &begun));
	age_entry(&b, "s1", STEP_DEAD_MS + 1000);
	OK(terminal_list(b.s, alice, b.a, &all, &n));
	ck_assert_uint_eq(n, 1);
	age_entry(&b, "s1", STEP_DEAD_MS + 2000);
	OK(terminal_list_drop(b.s, alice, &all[0]));
	ck_assert_int_eq(entries(&b), 1);
	state_fixture_stop(&b);
}

TEST(a_binding_that_ends_after_the_record_is_completed)
{
	struct terminal_binding to = binding_to("s1");
	struct binding_begun begun;
	char previous[ID_TOKEN_MAX];
	struct state_fixture b;

	state_fixture_start(&b);
	make_soul(&b, "s1");
	OK(binding_begin(b.s, &to, &begun));
	OK(binding_set(b.s, &to, begun.at, false, previous));
	/* The user finds it, and the soul does not tick. */
	ck_assert_uint_eq(list(&b), 1);
	ck_assert_int_eq(bodies(&b, "s1"), 0);
	/* The next report that the bridge writes. */
	OK(terminal_fixture_put_online(b.s, &b.w, body, true, NULL));
	ck_assert_int_eq(bodies(&b, "s1"), 1);
	ck_assert_int_eq(ticking(&b), 1);
	ck_assert_uint_eq(list(&b), 1);
	ck_soul(&b, "s1");
	state_fixture_stop(&b);
}

TEST(a_change_of_souls_that_ends_after_the_record_is_completed)
{
	struct terminal_binding to = binding_to("s2");
	struct soul_tick_bucket bucket = { 0 };
	struct soul_tick t = {
		.interval_ms = 3000, .bucket = &bucket, .n_buckets = 1
	};
	struct binding_begun begun;
	char previous[ID_TOKEN_MAX];
	struct soul_due *due;
	struct state_fixture b;
	size_t n;

	state_fixture_start(&b);
	make_soul(&b, "s1");
	make_soul(&b, "s2");
	OK(terminal_fixture_bind(b.s, body, alice, STR("s1")));
	OK(binding_begin(b.s, &to, &begun));
	ck_assert(begun.existed);
	OK(binding_set(b.s, &to, begun.at, false, previous));
	ck_assert_str_eq(previous, "s1");
	ck_assert_int_eq(bodies(&b, "s1"), 1);
	OK(terminal_fixture_put_online(b.s, &b.w, body, true, NULL));
	ck_assert_int_eq(bodies(&b, "s2"), 1);
	ck_assert_int_eq(bodies(&b, "s1"), 0);
	/* The other soul does not tick for it. */
	OK(state_bucket(alice, &bucket.number));
	DO(&b, STR("ZADD"), terminal_fixture_key(KEY_TICKS, "alice", NULL),
	    STR("1"), STR("alice:s1"), STR("1"), STR("alice:s2"));
	OK(soul_tick_claim(b.s, &t, b.a, &due, &n));
	ck_assert_uint_eq(n, 1);
	ck_text(due[0].soul_id, "s2");
	state_fixture_stop(&b);
}

TEST(an_unbinding_that_ends_after_the_record_is_completed)
{
	struct binding_record was;
	struct state_fixture b;

	state_fixture_start(&b);
	make_soul(&b, "s1");
	OK(terminal_fixture_bind(b.s, body, alice, STR("s1")));
	OK(binding_unset(b.s, body, alice, STR_NONE, &was));
	ck_assert_uint_eq(list(&b), 0);
	ck_assert_int_eq(entries(&b), 1);
	age_entry(&b, "s1", STEP_DEAD_MS + 1000);
	ck_assert_uint_eq(list(&b), 0);
	ck_assert_int_eq(entries(&b), 0);
	ck_assert_int_eq(bodies(&b, "s1"), 0);
	state_fixture_stop(&b);
}

/* Its last step comes when the terminal is bound again. */
TEST(an_unbinding_that_ends_after_a_binding_leaves_it)
{
	struct binding_record was;
	struct state_fixture b;
	int64_t now;

	state_fixture_start(&b);
	make_soul(&b, "s1");
	OK(terminal_fixture_bind(b.s, body, alice, STR("s1")));
	OK(binding_unset(b.s, body, alice, STR_NONE, &was));
	now = state_fixture_now(&b);
	while (state_fixture_now(&b) == now)
		;
	OK(terminal_fixture_bind(b.s, body, alice, STR("s1")));
	OK(binding_unset_end(b.s, body, &was));
	ck_assert_int_eq(entries(&b), 1);
	ck_assert_int_eq(bodies(&b, "s1"), 1);
	ck_assert_uint_eq(list(&b), 1);
	state_fixture_stop(&b);
}

/* ---- deletion of a soul ---- */

static void
age_deletion(struct state_fixture *b, const char *soul, int64_t ms)
{
	char num[STR_NUM_MAX];

	DO(b, STR("HSET"),
	    terminal_fixture_key(KEY_USER_DELETING, "alice", NULL),
	    str_of(soul), str_num(state_fixture_now(b) - ms, num));
}

static int64_t
deletions(struct state_fixture *b)
{
	return INT_OF(b, STR("HLEN"),
	    terminal_fixture_key(KEY_USER_DELETING, "alice", NULL));
}

/* A soul with a terminal, of which the first step of its deletion is done. */
static void
begin_deletion(struct state_fixture *b)
{
	struct state_reply *terminals;
	struct soul out;

	state_fixture_start(b);
	make_soul(b, "s1");
	make_soul(b, "s2");
	OK(terminal_fixture_bind(b->s, body, alice, STR("s1")));
	OK(soul_delete_begin(b->s, alice, STR("s1"), &terminals));
	ck_assert_uint_eq(state_reply_len(state_reply_at(terminals, 1)), 1);
	state_reply_free(terminals);
	IS(RC_NOENT, soul_read(b->s, alice, STR("s1"), b->a, &out));
	ck_soul(b, "s1");
	ck_assert_int_eq(deletions(b), 1);
}

static void
ck_deleted(struct state_fixture *b)
{
	ck_soul(b, NULL);
	ck_assert_int_eq(deletions(b), 0);
	ck_assert_int_eq(bodies(b, "s1"), 0);
	IS(RC_NOENT, soul_delete(b->s, alice, STR("s1"), NULL));
}

TEST(a_deletion_that_ends_is_completed_by_a_list)
{
	struct state_fixture b;

	begin_deletion(&b);
	/* Another process may be deleting it. */
	ck_assert_uint_eq(list(&b), 1);
	ck_assert_int_eq(deletions(&b), 1);
	age_deletion(&b, "s1", STEP_MAX_MS + 1000);
	(void)list(&b);
	ck_deleted(&b);
	ck_assert_int_eq(entries(&b), 0);
	state_fixture_stop(&b);
}

TEST(a_deletion_that_ends_is_completed_by_a_binding)
{
	struct state_fixture b;

	begin_deletion(&b);
	age_deletion(&b, "s1", STEP_MAX_MS + 1000);
	OK(terminal_fixture_bind(b.s, STR("other"), alice, STR("s2")));
	ck_deleted(&b);
	ck_assert_uint_eq(list(&b), 1);
	state_fixture_stop(&b);
}

TEST(a_deletion_that_ends_is_completed_when_repeated)
{
	struct soul_unbound unbound = { 0 };
	struct state_fixture b;

	begin_deletion(&b);
	unbound.a = b.a;
	OK(soul_delete(b.s, alice, STR("s1"), &unbound));
	ck_assert_uint_eq(unbound.n, 1);
	ck_text(unbound.ids[0], "t");
	ck_deleted(&b);
	state_fixture_stop(&b);
}

TEST(a_deletion_that_ends_after_the_terminals_is_completed)
{
	struct state_fixture b;
	bool unbound;

	begin_deletion(&b);
	OK(soul_delete_unbind(b.s, alice, STR("s1"), &body, 1, &unbound));
	ck_assert(unbound);
	ck_soul(&b, NULL);
	ck_assert_int_eq(bodies(&b, "s1"), 1);
	age_deletion(&b, "s1", STEP_MAX_MS + 1000);
	(void)list(&b);
	ck_deleted(&b);
	state_fixture_stop(&b);
}

/* The soul is deleted between the steps of a binding. */
TEST(nothing_stays_bound_to_a_deleted_soul)
{
	struct terminal_binding to = binding_to("s1");
	struct binding_begun begun;
	char previous[ID_TOKEN_MAX];
	struct state_fixture b;

	state_fixture_start(&b);
	make_soul(&b, "s1");
	make_soul(&b, "s2");
	OK(binding_begin(b.s, &to, &begun));
	OK(soul_delete(b.s, alice, STR("s1"), NULL));
	OK(binding_set(b.s, &to, begun.at, false, previous));
	ck_soul(&b, "s1");
	/* The process has died here; the bridge writes a report. */
	OK(terminal_fixture_put_online(b.s, &b.w, body, true, NULL));
	ck_soul(&b, NULL);
	ck_assert_int_eq(bodies(&b, "s1"), 0);
	ck_assert_int_eq(ticking(&b), 0);

	/* A terminal that has got another soul meanwhile keeps that. */
	OK(terminal_fixture_bind(b.s, body, alice, STR("s2")));
	IS(RC_CONFLICT, terminal_unbind_soul(b.s, body, alice, STR("s1")));
	ck_soul(&b, "s2");
	OK(terminal_unbind_soul(b.s, body, alice, STR("s2")));
	ck_soul(&b, NULL);
	state_fixture_stop(&b);
}

/* ---- identities ---- */

static struct credential
credential_of(const char *tenant)
{
	return (struct credential){ .terminal_id = body,
		.tenant = str_of(tenant),
		.hash = STR("hash"),
		.created = { 1 } };
}

static int64_t
version(struct state_fixture *b)
{
	int64_t v;

	OK(credential_version(b->s, &v));
	return v;
}

static size_t
listed(struct state_fixture *b, const char *tenant)
{
	struct credential *all;
	struct str next;
	size_t n;

	OK(credential_list(
	    b->s, str_of(tenant), STR_NONE, 10, b->a, &all, &n, &next));
	return n;
}

/* The second step of minting. */
static enum rc
mint_between(struct state_fixture *b, const struct credential *cr, int64_t ms)
{
	struct script_call c;

	credential_call_mint(&c, cr);
	c.args[0] = str_num(ms, c.num_text[0]);
	return call_run(b->s, &c, 1, NULL);
}

/* As if the change that has begun had begun long ago. */
static void
age_change(struct state_fixture *b)
{
	char num[STR_NUM_MAX];

	DO(b, STR("ZADD"), STR(KEY_CREDENTIALS_CHANGING),
	    str_num((state_fixture_now(b) - STEP_DEAD_MS - 1000) * 1000, num),
	    body);
}

TEST(a_change_of_an_identity_is_counted_whatever_it_ended_at)
{
	struct credential cr = credential_of("acme");
	struct credential_change ch = {
		.terminal = body, .tenant = STR("acme"), .is_new = true
	};
	struct state_fixture b;
	int64_t v;

	state_fixture_start(&b);
	OK(credential_begin(b.s, &ch));
	ck_assert(ch.joined && ch.joined_tenant);
	/* It is in the sets, and does not exist. */
	ck_assert_uint_eq(listed(&b, NULL), 0);
	ck_assert_uint_eq(listed(&b, "acme"), 0);
	ck_assert_int_eq(version(&b), 0);
	age_change(&b);
	v = version(&b);
	ck_assert_int_gt(v, 0);
	ck_assert_int_eq(version(&b), v);
	IS(RC_RETRY,
	    mint_between(&b, &cr, ch.began / 1000 - STEP_MAX_MS - 1000));

	OK(credential_begin(b.s, &ch));
	ck_assert(!ch.joined);
	OK(mint_between(&b, &cr, ch.began / 1000));
	ck_assert_uint_eq(listed(&b, NULL), 1);
	ck_assert_uint_eq(listed(&b, "acme"), 1);
	ck_assert_int_eq(version(&b), v);
	age_change(&b);
	ck_assert_int_gt(version(&b), v);
	state_fixture_stop(&b);
}

/* Each of two changes at a time has an entry until it was counted. */
TEST(a_change_does_not_hide_a_later_one)
{
	struct credential_change first = { .terminal = body }, second = first;
	struct state_fixture b;
	int64_t v;

	state_fixture_start(&b);
	OK(credential_begin(b.s, &first));
	OK(credential_begin(b.s, &second));
	ck_assert_int_gt(second.began, first.began);
	OK(credential_end(b.s, &first, true));
	v = version(&b);
	ck_assert_int_eq(
	    INT_OF(&b, STR("ZCARD"), STR(KEY_CREDENTIALS_CHANGING)), 1);
	age_change(&b);
	ck_assert_int_gt(version(&b), v);
	ck_assert_int_eq(
	    INT_OF(&b, STR("ZCARD"), STR(KEY_CREDENTIALS_CHANGING)), 0);
	state_fixture_stop(&b);
}

TEST(a_tenant_lists_only_its_identities)
{
	struct credential cr = credential_of("acme");
	struct credential_change ch = { .terminal = body, .is_new = true };
	struct state_fixture b;

	state_fixture_start(&b);
	OK(credential_mint(b.s, &cr, NULL, NULL));
	/* A rejected request leaves nothing in another tenant's set. */
	cr.tenant = STR("evil");
	IS(RC_CONFLICT, credential_mint(b.s, &cr, NULL, NULL));
	ck_assert_int_eq(
	    INT_OF(&b, STR("EXISTS"),
		STR("soul:tenant:{identities}:evil:credentials:1")),
	    0);
	OK(credential_revoke(b.s, body, NULL, NULL));
	ch.tenant = STR("next");
	OK(credential_begin(b.s, &ch));
	cr.tenant = ch.tenant;
	OK(mint_between(&b, &cr, ch.began / 1000));
	/* The last step, which removes it from the set of acme, is missing. */
	ck_assert_uint_eq(listed(&b, "acme"), 0);
	ck_assert_uint_eq(listed(&b, "next"), 1);
	state_fixture_stop(&b);
}
