/* Souls: records, names, lists. */
#include "state/keys.h"
#include "state/soul.h"
#include "testkit/state_fixture.h"
#include "testkit/terminal_fixture.h"

static struct soul
soul_of(const char *user, const char *id, const char *name)
{
	return (struct soul){ .id = str_of(id),
		.user_id = str_of(user),
		.name = str_of(name),
		.mbti_type = STR("INFJ"),
		.model = STR("persona-pad-v2"),
		.created = { 1700000000123 } };
}

TEST(create_read_delete)
{
	struct soul in = soul_of("用户", "soul_1", "小明 %:{}"), out;
	struct soul_state st = { .user_id = STR("用户"),
		.soul_id = STR("soul_1") };
	struct state_fixture b;

	state_fixture_start(&b);
	IS(RC_NOENT, soul_read(b.s, in.user_id, in.id, b.a, &out));
	OK(soul_create(b.s, &in, STR("state\0x")));
	OK(soul_read(b.s, in.user_id, in.id, b.a, &out));
	ck_text(out.id, "soul_1");
	ck_text(out.user_id, "用户");
	ck_text(out.name, "小明 %:{}");
	ck_text(out.mbti_type, "INFJ");
	ck_text(out.model, "persona-pad-v2");
	ck_assert_int_eq(out.created.ms, 1700000000123);
	OK(soul_state_get(b.s, &st, 1, b.a));
	ck_assert_int_eq(st.version, 1);
	ck_assert(str_eq(st.bytes, STR("state\0x")));

	OK(soul_delete(b.s, in.user_id, in.id, NULL));
	IS(RC_NOENT, soul_read(b.s, in.user_id, in.id, b.a, &out));
	OK(soul_state_get(b.s, &st, 1, b.a));
	ck_assert_int_eq(st.version, 0);
	ck_text(st.bytes, NULL);
	ck_assert_int_eq(INT_OF(&b, STR("DBSIZE")), 0);
	state_fixture_stop(&b);
}

TEST(names_are_unique_per_user)
{
	struct soul a1 = soul_of("a", "1", "x"), a2 = soul_of("a", "2", "x");
	struct soul a3 = soul_of("a", "3", "X"), b1 = soul_of("b", "4", "x");
	struct soul second = soul_of("b", "1", "other");
	struct state_fixture b;

	state_fixture_start(&b);
	OK(soul_create(b.s, &a1, STR("")));
	IS(RC_CONFLICT, soul_create(b.s, &a2, STR("")));
	OK(soul_create(b.s, &a3, STR("")));
	OK(soul_create(b.s, &b1, STR("")));
	/* Ids are those of a user. */
	IS(RC_NOENT, soul_delete(b.s, b1.user_id, a1.id, NULL));
	OK(soul_create(b.s, &second, STR("")));
	second.name = STR("third");
	IS(RC_CONFLICT, soul_create(b.s, &second, STR("")));
	OK(soul_delete(b.s, a1.user_id, a1.id, NULL));
	OK(soul_create(b.s, &a2, STR("")));
	state_fixture_stop(&b);
}

TEST(lists_are_oldest_first)
{
	static const int64_t created[] = { 30, 10, 20 };
	struct soul soul, *list;
	char text[3][8];
	struct state_fixture b;
	size_t i, n;

	state_fixture_start(&b);
	OK(soul_list(b.s, STR("u"), b.a, &list, &n));
	ck_assert_uint_eq(n, 0);
	for (i = 0; i < 3; i++) {
		snprintf(text[i], sizeof(text[i]), "s %zu", i);
		soul = soul_of("u", text[i], text[i]);
		soul.created.ms = created[i];
		OK(soul_create(b.s, &soul, STR("")));
	}
	soul = soul_of("another", "x", "x");
	OK(soul_create(b.s, &soul, STR("")));
	OK(soul_list(b.s, STR("u"), b.a, &list, &n));
	ck_assert_uint_eq(n, 3);
	ck_text(list[0].id, "s 1");
	ck_text(list[1].id, "s 2");
	ck_text(list[2].id, "s 0");
	ck_text(list[2].user_id, "u");
	ck_text(list[2].name, "s 0");
	ck_assert_int_eq(list[2].created.ms, 30);

	/* An unreadable one does not hide the others. */
	DO(&b, STR("HSET"), terminal_fixture_key(KEY_SOUL, "u", "s 1"),
	    STR("v"), STR("9"));
	OK(soul_list(b.s, STR("u"), b.a, &list, &n));
	ck_assert_uint_eq(n, 2);
	DO(&b, STR("SET"), terminal_fixture_key(KEY_SOUL, "u", "s 1"),
	    STR("x"));
	OK(soul_list(b.s, STR("u"), b.a, &list, &n));
	ck_assert_uint_eq(n, 2);
	state_fixture_stop(&b);
}

TEST(the_souls_of_a_user_are_limited)
{
	struct soul soul, *list;
	char text[16];
	struct state_fixture b;
	size_t i, n;

	state_fixture_start(&b);
	for (i = 0; i < SOUL_LIST_MAX; i++) {
		snprintf(text, sizeof(text), "%zu", i);
		soul = soul_of("u", text, text);
		OK(soul_create(b.s, &soul, STR("")));
	}
	soul = soul_of("u", "more", "more");
	IS(RC_RETRY, soul_create(b.s, &soul, STR("")));
	OK(soul_list(b.s, STR("u"), b.a, &list, &n));
	ck_assert_uint_eq(n, SOUL_LIST_MAX);
	OK(soul_delete(b.s, STR("u"), STR("500"), NULL));
	OK(soul_create(b.s, &soul, STR("")));
	state_fixture_stop(&b);
}

TEST(limits_are_enforced)
{
	static char text[SOUL_STATE_MAX + 1];
	struct soul soul = soul_of("u", "s", "n"), *list, out;
	struct arena *small = arena_new(10);
	struct state_fixture b;
	size_t n;

	memset(text, 'x', sizeof(text));
	state_fixture_start(&b);
	IS(RC_TOOBIG,
	    soul_create(b.s, &soul, (struct str){ text, sizeof(text) }));
	soul.name = (struct str){ text, SOUL_TEXT_MAX + 1 };
	IS(RC_TOOBIG, soul_create(b.s, &soul, STR("")));
	soul.name.n--;
	soul.id = STR("");
	IS(RC_INVALID, soul_create(b.s, &soul, STR("")));
	soul.id = STR("s");
	soul.user_id = STR("\t");
	IS(RC_INVALID, soul_create(b.s, &soul, STR("")));
	soul.user_id = STR("u");
	soul.created.ms = -1;
	IS(RC_INVALID, soul_create(b.s, &soul, STR("")));
	soul.created.ms = 0;
	ck_assert_int_eq(INT_OF(&b, STR("DBSIZE")), 0);
	OK(soul_create(b.s, &soul, (struct str){ text, SOUL_STATE_MAX }));
	OK(soul_read(b.s, STR("u"), STR("s"), b.a, &out));
	ck_assert_uint_eq(out.name.n, SOUL_TEXT_MAX);
	ck_assert_int_eq(out.created.ms, 0);

	IS(RC_TOOBIG, soul_read(b.s, STR("u"), STR("s"), small, &out));
	ck_text(out.id, NULL);
	arena_reset(small);
	IS(RC_TOOBIG, soul_list(b.s, STR("u"), small, &list, &n));
	ck_assert_uint_eq(n, 0);
	IS(RC_INVALID, soul_read(b.s, STR("u"), STR(""), b.a, &out));
	IS(RC_INVALID, soul_list(b.s, STR(""), b.a, &list, &n));
	IS(RC_INVALID, soul_delete(b.s, STR(""), STR("s"), NULL));
	arena_free(small);
	state_fixture_stop(&b);
}
