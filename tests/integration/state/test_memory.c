/* Memories: what is stored, in which order, and its version. */
#include "state/memory.h"
#include "testkit/state_fixture.h"

STATE_FIXTURE_ON_CLUSTER

static const struct memory_scope scope = { STR_INIT("用户"),
	STR_INIT("soul_1") };
/* Later than anything is forgotten here. */
static const struct wall later = { INT64_C(4102444800000) };

static void
put(struct state_fixture *b, const char *id, const char *json)
{
	struct memory_item item = { .id = str_of(id), .json = str_of(json) };

	OK(memory_put(b->s, &scope, &item, later));
}

/* All memories, valid until the next call. */
static struct memory_list
all(struct state_fixture *b, int64_t known)
{
	struct memory_list l;

	arena_reset(b->a);
	OK(memory_all(b->s, &scope, known, b->a, &l));
	return l;
}

TEST(put_read_forget)
{
	struct memory_list l;
	struct state_fixture b;
	int64_t v;

	state_fixture_start(&b);
	l = all(&b, -1);
	ck_assert(l.changed);
	ck_assert_uint_eq(l.n, 0);
	ck_assert_int_eq(l.version, 0);
	ck_assert(!all(&b, 0).changed);

	put(&b, "m 1", "{\"text\":\"一\"}");
	put(&b, "m2", "{\"text\":\"2\"}");
	put(&b, "a3", "");
	l = all(&b, 0);
	ck_assert(l.changed);
	ck_assert_uint_eq(l.n, 3);
	ck_text(l.item[0].id, "m 1");
	ck_text(l.item[0].json, "{\"text\":\"一\"}");
	ck_text(l.item[1].id, "m2");
	ck_text(l.item[2].id, "a3");
	v = l.version;
	l = all(&b, v);
	ck_assert(!l.changed);
	ck_assert_uint_eq(l.n, 0);
	ck_assert_int_eq(l.version, v);

	/* The same id does not change it. */
	put(&b, "m 1", "{\"text\":\"other\"}");
	ck_assert(!all(&b, v).changed);
	ck_text(all(&b, 0).item[0].json, "{\"text\":\"一\"}");

	OK(memory_del(b.s, &scope, STR("m 1")));
	IS(RC_NOENT, memory_del(b.s, &scope, STR("m 1")));
	IS(RC_NOENT, memory_forget(b.s, &scope, STR("m 1")));
	l = all(&b, v);
	ck_assert(l.changed);
	ck_assert_uint_eq(l.n, 2);
	ck_text(l.item[0].id, "m2");
	/* After it was deleted and put, it is the newest. */
	put(&b, "m 1", "{}");
	l = all(&b, 0);
	ck_text(l.item[2].id, "m 1");
	state_fixture_stop(&b);
}

TEST(a_forgotten_memory_stays_forgotten)
{
	struct memory_item item = { .id = STR("m"), .json = STR("{}") };
	struct wall now;
	struct state_fixture b;
	size_t n;

	state_fixture_start(&b);
	put(&b, "m", "{}");
	put(&b, "other", "{}");
	OK(memory_forget(b.s, &scope, STR("m")));
	IS(RC_NOENT, memory_forget(b.s, &scope, STR("m")));
	ck_assert_uint_eq(all(&b, -1).n, 1);
	/* Whenever it was made. */
	IS(RC_CONFLICT, memory_put(b.s, &scope, &item, later));
	ck_assert_uint_eq(all(&b, -1).n, 1);
	ck_assert_int_gt(INT_OF(&b, STR("PTTL"),
			     STR("soul:memory:{b0193}:~55So5oi3:soul_1:gone")),
	    (MEMORY_TOMBSTONE_DAYS - 1) * 86400000L);

	/* After all were forgotten: what was made before, whatever its id. */
	now.ms = state_fixture_now(&b) - 1;
	item.id = STR("early");
	OK(memory_clear(b.s, &scope, &n));
	ck_assert_uint_eq(n, 1);
	IS(RC_CONFLICT, memory_put(b.s, &scope, &item, now));
	IS(RC_CONFLICT, memory_put(b.s, &scope, &item, (struct wall){ 0 }));
	ck_assert_uint_eq(all(&b, -1).n, 0);
	OK(memory_put(b.s, &scope, &item, later));
	IS(RC_INVALID, memory_put(b.s, &scope, &item, (struct wall){ -1 }));

	state_fixture_stop(&b);
}

/* Tombstones of memories that are stored elsewhere. */
TEST(memories_stored_elsewhere)
{
	const struct memory_scope other = { scope.user_id, STR("soul_2") };
	const struct wall before = { clock_wall().ms };
	struct state_fixture b;

	state_fixture_start(&b);
	OK(memory_check_tombstone(b.s, &scope, STR("a"), before));
	OK(memory_add_tombstone(b.s, &scope, STR("a")));
	IS(RC_CONFLICT, memory_check_tombstone(b.s, &scope, STR("a"), later));
	OK(memory_check_tombstone(b.s, &scope, STR("b"), before));
	OK(memory_check_tombstone(b.s, &other, STR("a"), before));
	OK(memory_clear(b.s, &scope, NULL));
	OK(memory_check_tombstone(b.s, &scope, STR("a"), later));
	IS(RC_CONFLICT,
	    memory_check_tombstone(
		b.s, &scope, STR("c"), (struct wall){ 1000 }));
	IS(RC_INVALID, memory_check_tombstone(b.s, &scope, STR(""), later));
	IS(RC_INVALID, memory_add_tombstone(b.s, &scope, STR("")));
	state_fixture_stop(&b);
}

TEST(vectors_belong_to_their_memories)
{
	const struct memory_item with = { STR("a"), STR("{}"),
		{ "m\0\x01\xff", 4 } };
	const struct memory_item set[] = {
		{ STR("b"), { NULL, 0 }, STR("xyz") },
		{ STR("unknown"), { NULL, 0 }, STR("xyz") },
	};
	struct memory_list l;
	struct state_fixture b;

	state_fixture_start(&b);
	OK(memory_put(b.s, &scope, &with, later));
	put(&b, "b", "{}");
	l = all(&b, -1);
	ck_assert_uint_eq(l.item[0].vector.n, 4);
	ck_assert_int_eq(memcmp(l.item[0].vector.p, "m\0\x01\xff", 4), 0);
	ck_assert_uint_eq(l.item[1].vector.n, 0);
	OK(memory_vectors(b.s, &scope, set, 2));
	l = all(&b, l.version);
	ck_assert(l.changed);
	ck_assert_uint_eq(l.n, 2);
	ck_text(l.item[1].vector, "xyz");
	/* It is deleted with its memory. */
	OK(memory_forget(b.s, &scope, STR("a")));
	OK(memory_put(b.s, &scope,
	    &(struct memory_item){ STR("c"), STR("{}"), { NULL, 0 } }, later));
	OK(memory_clear(b.s, &scope, NULL));
	put(&b, "b", "{}");
	ck_assert_uint_eq(all(&b, -1).item[0].vector.n, 0);
	IS(RC_INVALID,
	    memory_vectors(b.s, &scope, set, MEMORY_VECTORS_MAX + 1));
	OK(memory_vectors(b.s, &scope, NULL, 0));
	state_fixture_stop(&b);
}

/* Ids, then some of the memories. */
TEST(memories_can_be_read_by_id)
{
	struct memory_item some[MEMORY_GET_MAX + 1] = { { .id = STR("b") },
		{ .id = STR("unknown") }, { .id = STR("a") } };
	struct memory_list l;
	struct state_fixture b;

	state_fixture_start(&b);
	OK(memory_ids(b.s, &scope, -1, b.a, &l));
	ck_assert_uint_eq(l.n, 0);
	OK(memory_get(b.s, &scope, some, 2, b.a));
	ck_assert_ptr_null(some[0].json.p);
	put(&b, "a", "1");
	put(&b, "b", "2");
	OK(memory_ids(b.s, &scope, -1, b.a, &l));
	ck_assert(l.changed);
	ck_assert_uint_eq(l.n, 2);
	ck_text(l.item[1].id, "b");
	ck_assert_ptr_null(l.item[1].json.p);
	OK(memory_ids(b.s, &scope, l.version, b.a, &l));
	ck_assert(!l.changed);
	OK(memory_vectors(b.s, &scope,
	    &(struct memory_item){ .id = STR("a"), .vector = STR("v") }, 1));
	OK(memory_get(b.s, &scope, some, 3, b.a));
	ck_text(some[0].json, "2");
	ck_assert_ptr_null(some[0].vector.p);
	ck_assert_ptr_null(some[1].json.p);
	ck_text(some[2].json, "1");
	ck_text(some[2].vector, "v");
	OK(memory_get(b.s, &scope, some, 0, b.a));
	IS(RC_INVALID, memory_get(b.s, &scope, some, MEMORY_GET_MAX + 1, b.a));
	state_fixture_stop(&b);
}

TEST(tombstones_are_limited)
{
	static const struct str forgotten =
	    STR_INIT("soul:memory:{b0193}:~55So5oi3:soul_1:gone");
	struct memory_item item = { .id = STR("m3"), .json = STR("{}") };
	char now[STR_NUM_MAX], id[8];
	struct state_fixture b;
	int i;

	state_fixture_start(&b);
	/* Half of them are too old. */
	DO(&b, STR("EVAL"),
	    STR("for i=1,9999 do redis.call('ZADD',KEYS[1],\n"
		" ARGV[1]-(i%2==0 and 1e9 or 1e6)+i,i) end return 0"),
	    STR("1"), forgotten, str_num(state_fixture_now(&b), now));
	for (i = 0; i < 4; i++) {
		snprintf(id, sizeof(id), "m%d", i);
		put(&b, id, "{}");
		OK(memory_forget(b.s, &scope, str_of(id)));
		ck_assert_int_eq(
		    INT_OF(&b, STR("ZCARD"), forgotten), 5000 + i + 1);
	}
	DO(&b, STR("EVAL"),
	    STR("for i=1,9999 do redis.call('ZADD',KEYS[1],ARGV[1]-1e6,i) end "
		"return 0"),
	    STR("1"), forgotten, str_num(state_fixture_now(&b), now));
	put(&b, "n", "{}");
	OK(memory_forget(b.s, &scope, STR("n")));
	ck_assert_int_eq(INT_OF(&b, STR("ZCARD"), forgotten), MEMORY_MAX);
	/* The newest stay. */
	IS(RC_CONFLICT, memory_put(b.s, &scope, &item, later));
	state_fixture_stop(&b);
}

TEST(versions_never_come_back)
{
	int64_t seen[8];
	struct state_fixture b;
	size_t i, j, n;

	state_fixture_start(&b);
	put(&b, "a", "1");
	seen[0] = all(&b, -1).version;
	OK(memory_clear(b.s, &scope, &n));
	ck_assert_uint_eq(n, 1);
	seen[1] = all(&b, -1).version;
	OK(memory_clear(b.s, &scope, &n));
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(all(&b, -1).version, seen[1]);
	put(&b, "a", "1");
	seen[2] = all(&b, -1).version;
	OK(memory_del(b.s, &scope, STR("a")));
	seen[3] = all(&b, -1).version;
	OK(memory_clear(b.s, &scope, NULL));
	/* Not even after Redis has lost everything. */
	state_fixture_flush(&b);
	for (i = 4; i < NELEM(seen); i++) {
		put(&b, i == 4 ? "a" : i == 5 ? "b" : i == 6 ? "c" : "d", "1");
		seen[i] = all(&b, -1).version;
	}
	for (i = 0; i < NELEM(seen); i++)
		for (j = 0; j < i; j++)
			ck_assert_int_ne(seen[i], seen[j]);
	state_fixture_stop(&b);
}

TEST(scopes_are_separate)
{
	static const struct memory_scope others[] = {
		{ STR_INIT("another"), STR_INIT("soul_1") },
		{ STR_INIT("用户"), STR_INIT("soul_2") },
	};
	struct memory_list l;
	struct state_fixture b;
	size_t i, n;

	state_fixture_start(&b);
	put(&b, "a", "1");
	for (i = 0; i < NELEM(others); i++) {
		OK(memory_all(b.s, &others[i], -1, b.a, &l));
		ck_assert_uint_eq(l.n, 0);
		IS(RC_NOENT, memory_del(b.s, &others[i], STR("a")));
		OK(memory_clear(b.s, &others[i], &n));
		ck_assert_uint_eq(n, 0);
	}
	ck_assert_uint_eq(all(&b, -1).n, 1);
	state_fixture_stop(&b);
}

TEST_T(the_oldest_fall_out, 60)
{
	static const struct state_script fill = {
		.text =
		    "local n=tonumber(ARGV[1]) for i=1,n do "
		    "redis.call('ZADD',KEYS[3],i,'m'..i) "
		    "redis.call('HSET',KEYS[2],'m'..i,'{}') end "
		    "redis.call('HSET',KEYS[1],'v',1,'ver',7,'seq',n) return 0",
		.sha = "4895dcfdcbc405605cb78195b06d53f4ec92ce28",
	};
	struct memory_scope us = { STR("u"), STR("s") };
	const struct str keys[] = { STR("soul:memory:{b0562}:u:s"),
		STR("soul:memory:{b0562}:u:s:items"),
		STR("soul:memory:{b0562}:u:s:order") };
	char num[STR_NUM_MAX];
	const struct str n = str_num(MEMORY_MAX, num);
	struct state_call c = { &fill, keys, 3, &n, 1 };
	struct memory_item item = { .id = STR("new"), .json = STR("[]") };
	struct memory_list l;
	struct state_fixture b;

	state_fixture_start(&b);
	OK(state_eval(b.s, &c, NULL));
	OK(memory_put(b.s, &us, &item, later));
	OK(memory_all(b.s, &us, 7, b.a, &l));
	ck_assert_uint_eq(l.n, MEMORY_MAX);
	ck_text(l.item[0].id, "m2");
	ck_text(l.item[MEMORY_MAX - 1].id, "new");
	ck_text(l.item[MEMORY_MAX - 1].json, "[]");
	IS(RC_NOENT, memory_del(b.s, &us, STR("m1")));
	/* The hash has as many as the order. */
	ck_assert_int_eq(INT_OF(&b, STR("HLEN"), keys[1]), MEMORY_MAX);
	state_fixture_stop(&b);
}

TEST(large_memories_are_read_in_pages)
{
	static char text[MEMORY_JSON_MAX + 1];
	struct memory_item item = { .id = STR("x"),
		.json = { text, sizeof(text) } };
	struct arena *small = arena_new(1000);
	struct memory_list l;
	char id[16];
	struct state_fixture b;
	size_t i;

	memset(text, 'x', sizeof(text));
	state_fixture_start(&b);
	IS(RC_TOOBIG, memory_put(b.s, &scope, &item, later));
	item.json.n--;
	/* Several pages. */
	for (i = 0; i < 100; i++) {
		snprintf(id, sizeof(id), "m%zu", i);
		item.id = str_of(id);
		OK(memory_put(b.s, &scope, &item, later));
	}
	l = all(&b, -1);
	ck_assert_uint_eq(l.n, 100);
	for (i = 0; i < 100; i++) {
		snprintf(id, sizeof(id), "m%zu", i);
		ck_text(l.item[i].id, id);
		ck_assert(str_eq(l.item[i].json, item.json));
	}
	IS(RC_TOOBIG, memory_all(b.s, &scope, -1, small, &l));
	ck_assert_uint_eq(l.n, 0);
	arena_free(small);
	state_fixture_stop(&b);
}

TEST(wrong_arguments_and_records_are_rejected)
{
	static const char *const keys[] = { "soul:memory:{b0562}:u:s",
		"soul:memory:{b0562}:u:s:items",
		"soul:memory:{b0562}:u:s:order" };
	static const struct str forgotten =
	    STR_INIT("soul:memory:{b0562}:u:s:gone");
	struct memory_scope us = { STR("u"), STR("s") };
	struct memory_item item = { .id = STR("m"), .json = STR("1") };
	struct memory_list l;
	struct state_fixture b;
	size_t i, n;

	state_fixture_start(&b);
	for (i = 0; i < NELEM(keys); i++) {
		state_fixture_flush(&b);
		OK(memory_put(b.s, &us, &item, later));
		DO(&b, STR("SET"), str_of(keys[i]), STR("x"));
		item.id = STR("m2");
		IS(RC_INVALID, memory_put(b.s, &us, &item, later));
		item.id = STR("m");
		IS(RC_INVALID, memory_del(b.s, &us, item.id));
		IS(RC_INVALID, memory_all(b.s, &us, -1, b.a, &l));
		ck_assert(!l.changed);
	}
	state_fixture_flush(&b);
	OK(memory_put(b.s, &us, &item, later));
	DO(&b, STR("SET"), forgotten, STR("x"));
	IS(RC_INVALID, memory_forget(b.s, &us, item.id));
	OK(memory_all(b.s, &us, -1, b.a, &l));
	ck_assert_uint_eq(l.n, 1);
	DO(&b, STR("DEL"), forgotten);
	DO(&b, STR("HSET"), str_of(keys[0]), STR("ver"), STR("x"));
	IS(RC_INVALID, memory_all(b.s, &us, -1, b.a, &l));
	DO(&b, STR("HSET"), str_of(keys[0]), STR("v"), STR("2"));
	IS(RC_INVALID, memory_all(b.s, &us, -1, b.a, &l));
	IS(RC_INVALID, memory_put(b.s, &us, &item, later));
	IS(RC_INVALID, memory_clear(b.s, &us, &n));
	ck_assert_uint_eq(n, 0);

	item.id = STR("");
	IS(RC_INVALID, memory_put(b.s, &scope, &item, later));
	IS(RC_INVALID, memory_del(b.s, &scope, STR("\n")));
	us.user_id = (struct str){ 0 };
	IS(RC_INVALID, memory_clear(b.s, &us, NULL));
	IS(RC_INVALID, memory_all(b.s, &us, 0, b.a, &l));
	state_fixture_stop(&b);
}

#define PEERS  3
#define ROUNDS 150

/* Writers, and a reader that must always see one complete version. */
static void
change_and_read(struct state_fixture *r, int who)
{
	static char text[30000];
	struct state_fixture b = { .s = r->s, .a = arena_new(64UL << 20) };
	struct memory_item item;
	struct memory_list l;
	char id[24];
	size_t j, k;
	enum rc rc;
	int i;

	memset(text, '0' + who, sizeof(text));
	item = (struct memory_item){ .json = { text, sizeof(text) } };
	for (i = 0; i < ROUNDS; i++) {
		snprintf(id, sizeof(id), "%d-%d", who, i);
		item.id = str_of(id);
		OK(memory_put(b.s, &scope, &item, later));
		if (i % 3 == 2) {
			snprintf(id, sizeof(id), "%d-%d", who, i - 1);
			OK(memory_del(b.s, &scope, str_of(id)));
		}
		if (i % 10 != 0)
			continue;
		arena_reset(b.a);
		rc = memory_all(b.s, &scope, -1, b.a, &l);
		if (rc == RC_RETRY)
			continue;
		OK(rc);
		for (j = 0; j < l.n; j++) {
			ck_assert_uint_eq(l.item[j].json.n, sizeof(text));
			ck_assert_int_eq(
			    l.item[j].json.p[0], l.item[j].id.p[0]);
			for (k = 0; k < j; k++)
				ck_assert(!str_eq(l.item[j].id, l.item[k].id));
		}
	}
	arena_free(b.a);
}

TEST_T(pages_belong_together, 120)
{
	struct tk_server redis;
	struct state_fixture b;

	state_fixture_start_server(&redis);
	state_fixture_run_peers(redis.url, PEERS, change_and_read);
	state_fixture_join(&b, &redis);
	arena_free(b.a);
	b.a = arena_new(64UL << 20);
	ck_assert_uint_eq(all(&b, -1).n, PEERS * ROUNDS * 2 / 3);
	state_fixture_stop(&b);
}
