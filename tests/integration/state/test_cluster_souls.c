/*
 * Souls, terminals and identities of many users in a cluster of six servers:
 * no script has keys of two slots.
 */
#include "state/keys.h"
#include "state/soul.h"
#include "state/terminal.h"
#include "state/timer_share.h"
#include "testkit/redis_set.h"
#include "testkit/state_fixture.h"
#include "testkit/terminal_fixture.h"

#define DEADLINE_MS 5000
#define USERS       12

struct cluster_users {
	struct tk_cluster set;
	struct state_fixture f;
	char user[USERS][16], terminal[USERS][16];
};

static void
users_start(struct cluster_users *x)
{
	int i;

	tk_cluster_start(&x->set);
	state_fixture_init(&x->f);
	state_fixture_connect(&x->f, x->set.url, DEADLINE_MS);
	state_fixture_wait_up(&x->f);
	for (i = 0; i < USERS; i++) {
		snprintf(x->user[i], sizeof(x->user[i]), "用户 %d", i);
		snprintf(x->terminal[i], sizeof(x->terminal[i]), "t %d", i);
	}
}

/* Each user has the soul with that id. */
static void
make_souls(struct cluster_users *x, const char *id)
{
	struct soul soul = { .id = str_of(id),
		.name = str_of(id),
		.mbti_type = STR("INFJ"),
		.model = STR("m") };
	int i;

	for (i = 0; i < USERS; i++) {
		soul.user_id = str_of(x->user[i]);
		OK(soul_create(x->f.s, &soul, STR("0")));
	}
}

static void
bind_all(struct cluster_users *x, const char *soul)
{
	int i;

	for (i = 0; i < USERS; i++)
		OK(terminal_fixture_bind(x->f.s, str_of(x->terminal[i]),
		    str_of(x->user[i]), str_of(soul)));
}

/* Terminals of that user, by the list and their records. */
static size_t
bound(struct cluster_users *x, int i, const char *soul)
{
	struct terminal_listed *list;
	struct terminal t;
	size_t k, n, found = 0;

	OK(terminal_list(x->f.s, str_of(x->user[i]), x->f.a, &list, &n));
	for (k = 0; k < n; k++) {
		OK(terminal_read(
		    x->f.s, list[k].id, STATE_FIXTURE_TTL_MS, x->f.a, &t));
		found += str_eq(t.soul_id, str_of(soul));
		if (t.user_id.p == NULL)
			OK(terminal_list_drop(
			    x->f.s, str_of(x->user[i]), &list[k]));
	}
	return found;
}

TEST_T(souls_and_terminals_of_users_in_all_slots, 120)
{
	struct cluster_users x;
	struct soul *souls, soul;
	struct soul_unbound unbound;
	size_t n;
	int i;

	users_start(&x);
	make_souls(&x, "s1");
	make_souls(&x, "s2");
	bind_all(&x, "s1");
	bind_all(&x, "s2");
	for (i = 0; i < USERS; i++) {
		struct str user = str_of(x.user[i]);

		OK(soul_list(x.f.s, user, x.f.a, &souls, &n));
		ck_assert_uint_eq(n, 2);
		ck_assert_uint_eq(bound(&x, i, "s2"), 1);
		ck_assert_uint_eq(bound(&x, i, "s1"), 0);
		IS(RC_CONFLICT,
		    terminal_fixture_bind(x.f.s, str_of(x.terminal[i]),
			str_of(x.user[(i + 1) % USERS]), STR("s1")));
		unbound = (struct soul_unbound){ .a = x.f.a };
		OK(soul_delete(x.f.s, user, STR("s2"), &unbound));
		ck_assert_uint_eq(unbound.n, 1);
		IS(RC_NOENT, soul_read(x.f.s, user, STR("s2"), x.f.a, &soul));
		ck_assert_uint_eq(bound(&x, i, "s2"), 0);
		OK(terminal_fixture_bind(
		    x.f.s, str_of(x.terminal[i]), user, STR("s1")));
		OK(terminal_unbind(x.f.s, str_of(x.terminal[i]), user));
		ck_assert_uint_eq(bound(&x, i, "s1"), 0);
	}
	state_fixture_stop(&x.f);
}

TEST_T(souls_tick_in_all_slots, 120)
{
	struct timer_share_opts o = { .role = "ticks", .sweep_ms = 30000 };
	struct soul_tick_bucket bucket[USERS], done[USERS];
	struct soul_tick t = {
		.interval_ms = 3000, .bucket = bucket, .n_buckets = USERS
	};
	struct terminal_snapshot snap = { .version = 1, .json = STR("[]") };
	struct soul_state st[USERS];
	struct cluster_users x;
	struct timer_share *share;
	struct soul_due *list;
	size_t n, claimed = 0;
	int64_t version;
	bool won[USERS];
	int i;

	users_start(&x);
	make_souls(&x, "s");
	bind_all(&x, "s");
	for (i = 0; i < USERS; i++) {
		OK(terminal_fixture_put_online(
		    x.f.s, &x.f.w, str_of(x.terminal[i]), true, NULL));
		OK(terminal_fixture_put_skills(
		    x.f.s, &x.f.w, str_of(x.terminal[i]), &snap, &version));
		OK(state_bucket(str_of(x.user[i]), &bucket[i].number));
	}
	/* All at one moment: one claim in each bucket, of several servers. */
	OK(soul_tick_claim(x.f.s, &t, x.f.a, &list, &n));
	ck_assert_uint_eq(n, 0);
	for (i = 0; i < USERS; i++) {
		ck_assert_int_ge(bucket[i].in_ms, 0);
		st[i] = (struct soul_state){ .user_id = str_of(x.user[i]),
			.soul_id = STR("s"),
			.version = 1,
			.bytes = STR("1"),
			.log =
			    i % 2 == 0 ? STR("log") : (struct str){ NULL, 0 } };
	}
	OK(soul_state_cas(x.f.s, st, USERS, won));
	for (i = 0; i < USERS; i++)
		ck_assert(won[i]);
	OK(soul_state_get(x.f.s, st, USERS, x.f.a));
	for (i = 0; i < USERS; i++)
		ck_assert_int_eq(st[i].version, 2);
	while (claimed < USERS) {
		OK(soul_tick_claim(x.f.s, &t, x.f.a, &list, &n));
		t.done = done;
		for (i = 0, t.n_done = 0; i < USERS; i++)
			if (bucket[i].n > 0)
				done[t.n_done++] = bucket[i];
		claimed += n;
	}
	OK(soul_tick_done(x.f.s, t.done, t.n_done));

	o.state = x.f.s;
	share = timer_share_new(&o);
	OK(timer_share_renew(share, clock_mono()));
	ck_assert_uint_eq(timer_share_owned(share), STATE_BUCKETS);
	OK(timer_share_leave(share));
	timer_share_free(share);
	state_fixture_stop(&x.f);
}

TEST_T(identities_and_results_in_all_slots, 120)
{
	struct terminal_expect_result expected = { .request_id = STR("r 1"),
		.broker = STR("main"),
		.ttl_ms = STATE_FIXTURE_TTL_MS,
		.note = STR("note") };
	struct credential c = { .tenant = STR("acme"), .hash = STR("h") };
	struct credential *list;
	struct cluster_users x;
	struct str from, next, json;
	int64_t version, epoch;
	size_t n;
	bool here, first;
	int i;

	users_start(&x);
	make_souls(&x, "s");
	OK(lease_acquire(x.f.s, STR("a"), STR("me"), 60000, &epoch));
	OK(lease_release(x.f.s, STR("a"), STR("me")));
	for (i = 0; i < USERS; i++) {
		c.terminal_id = str_of(x.terminal[i]);
		OK(credential_mint(x.f.s, &c, NULL, NULL));
		IS(RC_CONFLICT, credential_mint(x.f.s, &c, NULL, NULL));
		OK(credential_rotate(x.f.s, c.terminal_id, STR("h2")));
		OK(terminal_fixture_put_online(
		    x.f.s, &x.f.w, c.terminal_id, true, NULL));
		OK(terminal_expect_result(
		    x.f.s, c.terminal_id, &expected, &here));
		ck_assert(here);
		OK(terminal_fixture_put_result(
		    x.f.s, c.terminal_id, STR("r 1"), STR("{}"), &first));
		ck_assert(first);
		OK(terminal_get_result(
		    x.f.s, c.terminal_id, STR("r 1"), x.f.a, &json));
	}
	bind_all(&x, "s");
	OK(credential_list(x.f.s, STR("acme"), (struct str){ NULL, 0 }, 100,
	    x.f.a, &list, &n, &next));
	ck_assert_uint_eq(n, USERS);
	OK(credential_version(x.f.s, &version));
	ck_assert_int_eq(version, 2 * USERS);
	for (i = 0; i < USERS; i++) {
		OK(credential_revoke(
		    x.f.s, str_of(x.terminal[i]), x.f.a, &from));
		ck_text(from, x.user[i]);
		ck_assert_uint_eq(bound(&x, i, "s"), 0);
	}
	state_fixture_stop(&x.f);
}
