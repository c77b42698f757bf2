/* Profiles: leaves, their times, tombstones. */
#include "state/memory.h"
#include "testkit/state_fixture.h"

STATE_FIXTURE_ON_CLUSTER

static const struct str user = STR_INIT("用户:1");

/* One leaf at a time; NULL removes. */
static enum rc
put_at(struct state_fixture *b, const char *path, const char *value, int64_t at)
{
	struct profile_leaf leaf = { str_of(path), str_of(value) };

	return profile_leaves_put(b->s, user,
	    &(struct profile_leaves){ .leaf = &leaf, .n = 1 },
	    (struct wall){ at });
}

/* All of it as text, into memory that the next call takes back. */
static const char *
all(struct state_fixture *b)
{
	static char text[4096];
	struct profile_leaves l;
	size_t i, n = 0;

	arena_reset(b->a);
	OK(profile_leaves_read(b->s, user, b->a, &l));
	text[0] = '\0';
	for (i = 0; i < l.n; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%.*s=%.*s",
		    i == 0 ? "" : " ", STR_ARG(l.leaf[i].path),
		    STR_ARG(l.leaf[i].value));
	return text;
}

TEST(leaves_are_set_and_removed)
{
	struct profile_leaves l;
	struct state_fixture b;

	state_fixture_start(&b);
	ck_assert_str_eq(all(&b), "");
	OK(profile_leaves_read(b.s, user, b.a, &l));
	ck_assert_int_eq(l.changed.ms, 0);

	OK(put_at(&b, "/p/name", "\"安\"", 1000));
	OK(put_at(&b, "/p/likes/tea", "true", 1000));
	OK(put_at(&b, "/p/likes/", "1", 1000));
	ck_assert_str_eq(
	    all(&b), "/p/likes/=1 /p/likes/tea=true /p/name=\"安\"");
	OK(profile_leaves_read(b.s, user, b.a, &l));
	ck_assert_int_eq(l.changed.ms, 1000);
	/* A sibling with the same prefix is not below. */
	OK(put_at(&b, "/p/like", "0", 1001));
	OK(put_at(&b, "/p/likes", NULL, 1002));
	ck_assert_str_eq(all(&b), "/p/like=0 /p/name=\"安\"");
	/* A leaf replaces an object, and an object a leaf. */
	OK(put_at(&b, "/p/like/x/y", "2", 1003));
	ck_assert_str_eq(all(&b), "/p/like/x/y=2 /p/name=\"安\"");
	OK(put_at(&b, "/p/like", "3", 1004));
	ck_assert_str_eq(all(&b), "/p/like=3 /p/name=\"安\"");
	state_fixture_stop(&b);
}

TEST(the_newest_change_wins_in_any_order)
{
	static const struct {
		const char *path, *value;
		int64_t at;
	} change[] = {
		{ "/p/a/c", "1", 1000 },
		{ "/p/a", "2", 2000 },
		{ "/p/a/b", "3", 3000 },
		{ "/p/a/b", NULL, 4000 },
		{ "/p/a/d/e", "4", 5000 },
	};
	size_t order[] = { 0, 1, 2, 3, 4 }, i, k, t;
	struct state_fixture b;
	int64_t then;

	state_fixture_start(&b);
	then = state_fixture_now(&b) - 10000;
	for (k = 0; k < 120; k++) {
		/* All orders, one after the other. */
		state_fixture_flush(&b);
		for (i = 0; i < NELEM(order); i++)
			order[i] = i;
		for (i = 0, t = k; i < NELEM(order); i++) {
			size_t j = i + t % (NELEM(order) - i), x = order[i];

			t /= NELEM(order) - i;
			order[i] = order[j];
			order[j] = x;
		}
		for (i = 0; i < NELEM(order); i++)
			OK(put_at(&b, change[order[i]].path,
			    change[order[i]].value,
			    then + change[order[i]].at));
		ck_assert_str_eq(all(&b), "/p/a/d/e=4");
		/* And a second time. */
		for (i = 0; i < NELEM(order); i++)
			OK(put_at(&b, change[i].path, change[i].value,
			    then + change[i].at));
		ck_assert_str_eq(all(&b), "/p/a/d/e=4");
	}
	state_fixture_stop(&b);
}

TEST(a_wiped_path_stays_removed)
{
	struct state_fixture b;
	int64_t now;

	state_fixture_start(&b);
	now = state_fixture_now(&b);
	/* From a clock that is ahead. */
	OK(put_at(&b, "/p/a", "1", now + 1000000));
	OK(put_at(&b, "/s/a", "2", 0));
	OK(profile_leaves_wipe(b.s, user, STR("/p")));
	ck_assert_str_eq(all(&b), "/s/a=2");
	OK(put_at(&b, "/p/a", "1", now - 1));
	OK(put_at(&b, "/p/b", "1", now - 1000));
	ck_assert_str_eq(all(&b), "/s/a=2");
	OK(put_at(&b, "/p/b", "3", 0));
	ck_assert_str_eq(all(&b), "/p/b=3 /s/a=2");
	state_fixture_stop(&b);
}

/* Fields of the hash besides its format. */
static int64_t
fields(struct state_fixture *b)
{
	struct state_reply *r;
	char key[STATE_KEY_MAX];
	struct str k;
	int64_t n;

	OK(state_key(key, "soul:profile:{#}:%", &user, 1, &k));
	OK(state_cmd(b->s, STATE_ARGS(STR("HLEN"), k), &r));
	n = state_reply_int(r) - 2;
	state_reply_free(r);
	return n;
}

TEST(dropped_tombstones_reject_old_changes)
{
	struct state_fixture b;
	char path[32];
	int64_t i, now;

	state_fixture_start(&b);
	now = state_fixture_now(&b);
	/* More tombstones than are stored. */
	for (i = 0; i <= PROFILE_TOMBSTONES_MAX; i++) {
		snprintf(path, sizeof(path), "/p/%d", (int)i);
		OK(put_at(&b, path, "1", now - 5000 + i));
		OK(put_at(&b, path, NULL, now - 4000 + i));
	}
	ck_assert_int_eq(fields(&b), PROFILE_TOMBSTONES_MAX);
	ck_assert_str_eq(all(&b), "");
	OK(put_at(&b, "/p/0", "1", now - 5000));
	OK(put_at(&b, "/p/new", "1", now - 5000));
	ck_assert_str_eq(all(&b), "");
	OK(put_at(&b, "/p/0", "2", now - 3000));
	ck_assert_str_eq(all(&b), "/p/0=2");
	/* Tombstones that are too old. */
	OK(put_at(&b, "/q/old", NULL,
	    now - PROFILE_TOMBSTONE_DAYS * INT64_C(86400000) - 1));
	/* Together with what is stored. */
	ck_assert_int_eq(fields(&b), PROFILE_TOMBSTONES_MAX + 1);
	state_fixture_stop(&b);
}

TEST(limits_of_a_document)
{
	struct profile_leaf leaf[PROFILE_LEAVES_MAX + 1];
	struct profile_leaves change = { .leaf = leaf };
	char path[PROFILE_LEAVES_MAX + 1][512], value[PROFILE_VALUE_MAX + 1];
	struct state_fixture b;
	size_t i;

	state_fixture_start(&b);
	memset(value, '1', sizeof(value));
	for (i = 0; i <= PROFILE_LEAVES_MAX; i++) {
		snprintf(path[i], sizeof(path[i]), "/p/%zu", i);
		leaf[i] = (struct profile_leaf){ str_of(path[i]), STR("1") };
	}
	change.n = PROFILE_LEAVES_MAX + 1;
	IS(RC_TOOBIG,
	    profile_leaves_put(b.s, user, &change, (struct wall){ 0 }));
	change.n = PROFILE_LEAVES_MAX;
	OK(profile_leaves_put(b.s, user, &change, (struct wall){ 0 }));
	/* One more: nothing is changed, not even what would fit. */
	change.leaf = leaf + PROFILE_LEAVES_MAX - 1;
	leaf[PROFILE_LEAVES_MAX - 1].value = STR("2");
	change.n = 2;
	IS(RC_TOOBIG,
	    profile_leaves_put(b.s, user, &change, (struct wall){ 0 }));
	leaf[PROFILE_LEAVES_MAX - 1].value = (struct str){ NULL, 0 };
	OK(profile_leaves_put(b.s, user, &change, (struct wall){ 0 }));
	IS(RC_TOOBIG,
	    put_at(&b, "/p/254", "", 0) == RC_OK
		? profile_leaves_put(b.s, user,
		      &(struct profile_leaves){
			  .leaf = &(struct profile_leaf){ STR("/p/x"),
			      { value, sizeof(value) } },
			  .n = 1 },
		      (struct wall){ 0 })
		: RC_BUG);

	/* All together. */
	OK(profile_leaves_wipe(b.s, user, STR("/p")));
	for (i = 0; i < 63; i++)
		leaf[i] = (struct profile_leaf){ str_of(path[i]),
			{ value, PROFILE_VALUE_MAX } };
	change.leaf = leaf;
	change.n = 63;
	OK(profile_leaves_put(b.s, user, &change, (struct wall){ 0 }));
	IS(RC_TOOBIG,
	    profile_leaves_put(b.s, user,
		&(struct profile_leaves){
		    .leaf =
			&(struct profile_leaf){ STR("/p/y"), { value, 1024 } },
		    .n = 1 },
		(struct wall){ 0 }));
	IS(RC_INVALID, put_at(&b, "p", "1", 0));
	IS(RC_INVALID, put_at(&b, "", "1", 0));
	IS(RC_INVALID, put_at(&b, "/p", "1", -1));
	state_fixture_stop(&b);
}

TEST(wrong_arguments_and_profiles_are_rejected)
{
	struct profile_leaves l;
	struct state_fixture b;

	state_fixture_start(&b);
	OK(state_cmd(b.s,
	    STATE_ARGS(STR("HSET"), STR("soul:profile:{b0562}:u"), STR("v"),
		STR("1"), STR("/p/a"), STR("true")),
	    NULL));
	IS(RC_INVALID, profile_leaves_read(b.s, STR("u"), b.a, &l));
	OK(state_cmd(b.s,
	    STATE_ARGS(
		STR("HSET"), STR("soul:profile:{b0624}:w"), STR("v"), STR("2")),
	    NULL));
	IS(RC_INVALID, profile_leaves_read(b.s, STR("w"), b.a, &l));
	IS(RC_INVALID, profile_leaves_read(b.s, STR(""), b.a, &l));
	state_fixture_stop(&b);
}
