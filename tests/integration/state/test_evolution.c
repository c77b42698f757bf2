/* What souls ask for, on a real Redis. */
#include <stdio.h>

#include "state/evolution_entry.h"
#include "state/soul.h"
#include "state/user_data.h"
#include "testkit/state_fixture.h"

STATE_FIXTURE_ON_CLUSTER

#define USER  STR("u 1")
#define LEASE 60000

static struct evolution_entry
entry(const char *id)
{
	return (struct evolution_entry){ .user_id = USER, .id = str_of(id) };
}

static struct evolution_change
change(const char *json)
{
	return (struct evolution_change){ .json = str_of(json),
		.soul_id = STR("s1") };
}

static enum rc
put(struct state_fixture *f, struct evolution_entry *e, const char *json)
{
	const struct evolution_change c = change(json);

	return evolution_entry_swap(f->s, e, &c, f->a);
}

static void
start(struct state_fixture *f)
{
	const struct soul soul = { .id = STR("s1"),
		.user_id = USER,
		.name = STR("Lili"),
		.mbti_type = STR("INFP"),
		.model = STR("m") };

	state_fixture_start(f);
	OK(soul_create(f->s, &soul, STR("state")));
}

static size_t
count(struct state_fixture *f, struct str user)
{
	struct evolution_entries list;

	OK(evolution_entry_list(f->s, user, f->a, &list));
	return list.n;
}

static struct evolution_entries
claim(struct state_fixture *f)
{
	struct evolution_entries list;
	unsigned bucket;

	OK(state_bucket(USER, &bucket));
	OK(evolution_entry_claim(f->s, bucket, LEASE, f->a, &list));
	return list;
}

TEST(one_change_of_a_version_counts)
{
	struct evolution_entry e = entry("e1"), other = entry("e1"), read;
	struct state_fixture f;

	start(&f);
	OK(put(&f, &e, "{\"a\":1}"));
	ck_assert_int_eq((int)e.version, 1);
	/* The same once more, as if the reply had been lost. */
	OK(put(&f, &other, "{\"a\":1}"));
	other = entry("e1");
	IS(RC_CONFLICT, put(&f, &other, "{\"a\":2}"));
	ck_assert_int_eq((int)other.version, 1);
	ck_assert(str_eq(other.json, STR("{\"a\":1}")));
	OK(put(&f, &e, "{\"a\":3}"));
	IS(RC_CONFLICT, put(&f, &other, "{\"a\":4}"));
	read = entry("e1");
	OK(evolution_entry_read(f.s, &read, f.a));
	ck_assert(str_eq(read.json, STR("{\"a\":3}")));
	ck_assert_int_eq((int)read.version, 2);
	read = entry("e2");
	IS(RC_NOENT, evolution_entry_read(f.s, &read, f.a));
	ck_assert_uint_eq(count(&f, STR("u2")), 0);
	state_fixture_stop(&f);
}

TEST(nothing_is_stored_for_a_soul_or_evolution_that_was_deleted)
{
	struct evolution_entry e = entry("e1"), f2 = entry("e2");
	struct evolution_change c = change("{}");
	struct state_fixture f;

	start(&f);
	c.soul_id = STR("s2");
	IS(RC_NOENT, evolution_entry_swap(f.s, &e, &c, f.a));
	OK(put(&f, &f2, "{}"));
	OK(user_data_delete_rest(f.s, USER));
	IS(RC_NOENT, put(&f, &f2, "{\"a\":1}"));
	ck_assert_uint_eq(count(&f, USER), 0);
	state_fixture_stop(&f);
}

TEST(a_user_has_so_many_and_a_new_one_may_replace_another)
{
	struct evolution_change c = change("{}");
	struct evolution_entry e;
	struct state_fixture f;
	char id[16];

	start(&f);
	for (int i = 0; i < EVOLUTIONS_MAX; i++) {
		snprintf(id, sizeof(id), "e%d", i);
		e = entry(id);
		OK(put(&f, &e, "{}"));
	}
	e = entry("more");
	IS(RC_RETRY, put(&f, &e, "{}"));
	c.drop = STR("none");
	IS(RC_RETRY, evolution_entry_swap(f.s, &e, &c, f.a));
	c.drop = STR("e7");
	OK(evolution_entry_swap(f.s, &e, &c, f.a));
	ck_assert_uint_eq(count(&f, USER), EVOLUTIONS_MAX);
	e = entry("e7");
	IS(RC_NOENT, evolution_entry_read(f.s, &e, f.a));
	/* One that is there may change. */
	e = entry("more");
	e.version = 1;
	OK(put(&f, &e, "{\"a\":1}"));
	state_fixture_stop(&f);
}

TEST(a_server_comes_and_goes_with_the_change)
{
	const struct mcp_user_server own = { STR("home"), STR("{\"url\":1}") };
	struct mcp_user_server *list;
	struct evolution_entry e = entry("e1");
	struct evolution_change c = change("{}");
	struct state_fixture f;
	size_t n;

	start(&f);
	OK(mcp_server_put(f.s, USER, &own));
	c.server_change = EVOLUTION_SERVER_ADDED;
	c.server = (struct mcp_user_server){ STR("home"), STR("{}") };
	IS(RC_DENIED, evolution_entry_swap(f.s, &e, &c, f.a));
	ck_assert_uint_eq(count(&f, USER), 0);
	c.server.name = STR("weather");
	OK(evolution_entry_swap(f.s, &e, &c, f.a));
	OK(mcp_servers_read(f.s, USER, f.a, &list, &n));
	ck_assert_uint_eq(n, 2);
	/* What is another's by now stays. */
	c.json = STR("{\"a\":1}");
	c.server_change = EVOLUTION_SERVER_REMOVED;
	c.server = (struct mcp_user_server){ STR("home"), STR("{}") };
	OK(evolution_entry_swap(f.s, &e, &c, f.a));
	c.json = STR("{\"a\":2}");
	c.server.name = STR("weather");
	OK(evolution_entry_swap(f.s, &e, &c, f.a));
	OK(mcp_servers_read(f.s, USER, f.a, &list, &n));
	ck_assert_uint_eq(n, 1);
	ck_assert(str_eq(list[0].json, STR("{\"url\":1}")));
	state_fixture_stop(&f);
}

TEST(steps_that_are_not_published_are_claimed)
{
	struct evolution_entry e = entry("e1"), other = entry("e2");
	struct evolution_change c = change("{}");
	struct evolution_entries list;
	struct state_fixture f;
	size_t n = 0;

	start(&f);
	OK(evolution_entry_swap(f.s, &e, &c, f.a));
	ck_assert_uint_eq(claim(&f).n, 0);
	c.json = STR("{\"a\":1}");
	c.publish_ms = 1;
	OK(evolution_entry_swap(f.s, &e, &c, f.a));
	OK(evolution_entry_swap(f.s, &other, &c, f.a));
	/* The second may be due a millisecond later. */
	for (list = claim(&f); n < 2; list = claim(&f)) {
		for (size_t i = 0; i < list.n; i++, n++) {
			ck_assert(str_eq(list.entry[i].user_id, USER));
			ck_assert(str_eq(list.entry[i].json, STR("{\"a\":1}")));
			ck_assert_int_eq((int)list.entry[i].version,
			    str_eq(list.entry[i].id, STR("e1")) ? 2 : 1);
		}
	}
	/* A claim lasts, and is no more once all is published. */
	ck_assert_int_gt((int)(list.next.ms - list.now.ms), LEASE / 2);
	c.json = STR("{\"a\":2}");
	c.publish_ms = 0;
	OK(evolution_entry_swap(f.s, &e, &c, f.a));
	OK(user_data_delete_rest(f.s, USER));
	list = claim(&f);
	ck_assert_uint_eq(list.n, 0);
	state_fixture_stop(&f);
}
