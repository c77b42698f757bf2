/* Slots of keys and commands, the map of slots, redirections. */
#include <stdlib.h>

#include "core/mem.h"
#include "state/cluster.h"
#include "testkit/testkit.h"

/* As CLUSTER KEYSLOT of Redis 7.0 replies. */
TEST(a_slot_is_that_of_redis)
{
	static const struct {
		const char *key;
		int slot;
	} t[] = {
		{ "", 0 },
		{ "123456789", 12739 },
		{ "foo", 12182 },
		{ "{foo}bar", 12182 },
		{ "x{foo}{bar}", 12182 },
		{ "{user1000}.following", 3443 },
		{ "user1000", 3443 },
		/* An empty tag, and one that does not end, are none. */
		{ "foo{}{bar}", 8363 },
		{ "foo{{bar}}zap", 4015 },
		{ "{bar", 4015 },
	};
	size_t i;

	for (i = 0; i < NELEM(t); i++)
		ck_assert_msg(slot_of_key(str_of(t[i].key)) == t[i].slot,
		    "%s: %d", t[i].key, slot_of_key(str_of(t[i].key)));
	ck_assert_int_ne(slot_of_key(STR("{bar")), slot_of_key(STR("bar")));
}

#define COMMAND(...) slot_of_command(STATE_ARGS(__VA_ARGS__))

TEST(the_key_of_a_command)
{
	int foo = slot_of_key(STR("foo"));

	ck_assert_int_eq(COMMAND(STR("GET"), STR("foo")), foo);
	ck_assert_int_eq(COMMAND(STR("PING")), SLOT_ANY);
	ck_assert_int_eq(COMMAND(STR("ping"), STR("foo")), SLOT_ANY);
	ck_assert_int_eq(
	    COMMAND(STR("EVALSHA"), STR("x"), STR("1"), STR("foo")), foo);
	ck_assert_int_eq(
	    COMMAND(STR("EVAL"), STR("x"), STR("0"), STR("foo")), SLOT_ANY);
	ck_assert_int_eq(COMMAND(STR("XREAD"), STR("COUNT"), STR("1"),
			     STR("streams"), STR("foo"), STR("0")),
	    foo);
	ck_assert_int_eq(
	    COMMAND(STR("XGROUP"), STR("CREATE"), STR("foo"), STR("g")), foo);
}

TEST(keys_of_one_slot)
{
	const struct str same[] = { STR("{a}1"), STR("{a}2"), STR("x{a}") };
	const struct str mixed[] = { STR("{a}1"), STR("{a}2"), STR("{b}") };
	size_t other = 0;

	ck_assert_int_eq(slot_of_keys(NULL, 0, &other), SLOT_ANY);
	ck_assert_int_eq(slot_of_keys(same, 3, &other), slot_of_key(STR("a")));
	ck_assert_int_eq(slot_of_keys(mixed, 3, &other), SLOT_MIXED);
	ck_assert_uint_eq(other, 2);
}

TEST(redirections)
{
	struct redirect d;

	redirect_parse(STR("MOVED 3999 127.0.0.1:6381"), &d);
	ck_assert_int_eq(d.kind, REDIRECT_MOVED);
	ck_assert_int_eq(d.slot, 3999);
	ck_assert_str_eq(d.to.host, "127.0.0.1");
	ck_assert_int_eq(d.to.port, 6381);
	redirect_parse(STR("ASK 16383 2001:db8::1:6381"), &d);
	ck_assert_int_eq(d.kind, REDIRECT_IMPORTING);
	ck_assert_str_eq(d.to.host, "2001:db8::1");
	redirect_parse(STR("MOVED 0 :7"), &d);
	ck_assert_int_eq(d.kind, REDIRECT_MOVED);
	ck_assert_str_eq(d.to.host, "");
}

TEST(no_redirections)
{
	static const char *const t[] = { "", "MOVED", "MOVED 1", "MOVED 1 h",
		"MOVED 16384 h:1", "MOVED -1 h:1", "MOVED 1 h:0",
		"MOVED 1 h:65536", "MOVED 1 ?:1", "ASKING 1 h:1", "MOVED x h:1",
		"ERR MOVED 1 h:1", "MOVED 1 a b:1" };
	struct redirect d;
	size_t i;

	for (i = 0; i < NELEM(t); i++) {
		redirect_parse(str_of(t[i]), &d);
		ck_assert_msg(d.kind == REDIRECT_NONE, "%s", t[i]);
	}
}

/* ---- replies to CLUSTER SLOTS ---- */

static struct state_reply *
of_int(struct arena *a, int64_t i)
{
	struct state_reply *r = arena_alloc(a, sizeof(*r));

	r->kind = STATE_INT;
	r->i = i;
	return r;
}

static struct state_reply *
of_text(struct arena *a, const char *text)
{
	struct state_reply *r = arena_alloc(a, sizeof(*r));

	r->kind = text == NULL ? STATE_NIL : STATE_STR;
	r->s = str_of(text);
	return r;
}

static struct state_reply *
of_array(struct arena *a, struct state_reply *const *elem, size_t n)
{
	struct state_reply *r = arena_alloc(a, sizeof(*r));
	size_t i;

	r->kind = STATE_ARRAY;
	r->n = n;
	r->elem = arena_alloc(a, n * sizeof(*r));
	for (i = 0; i < n; i++)
		r->elem[i] = *elem[i];
	return r;
}

static struct state_reply *
range(struct arena *a, int64_t from, int64_t to, const char *host, int64_t port)
{
	struct state_reply *server[] = { of_text(a, host), of_int(a, port) };
	struct state_reply *parts[] = { of_int(a, from), of_int(a, to),
		of_array(a, server, 2) };

	return of_array(a, parts, 3);
}

TEST(a_map_of_slots)
{
	struct slot_map *m = mem_alloc(sizeof(*m));
	struct arena *a = arena_new(1 << 20);
	struct state_reply *ranges[] = { range(a, 0, 10, "h1", 1),
		range(a, 20, 30, NULL, 2), range(a, 31, 31, "h1", 1),
		range(a, 40, 50, "?", 3) };

	ck_assert_int_eq(
	    slot_map_read(of_array(a, ranges, 4), "self", m), RC_OK);
	ck_assert_uint_eq(m->n, 2);
	ck_assert_str_eq(m->nodes[0].host, "h1");
	ck_assert_str_eq(m->nodes[1].host, "self");
	ck_assert_int_eq(m->nodes[1].port, 2);
	ck_assert_uint_eq(m->owner[0], 0);
	ck_assert_uint_eq(m->owner[10], 0);
	ck_assert_uint_eq(m->owner[11], SLOT_UNSERVED);
	ck_assert_uint_eq(m->owner[20], 1);
	ck_assert_uint_eq(m->owner[31], 0);
	ck_assert_uint_eq(m->owner[40], SLOT_UNSERVED);
	arena_free(a);
	free(m);
}

TEST(no_map_of_slots)
{
	struct slot_map *m = mem_alloc(sizeof(*m));
	struct arena *a = arena_new(16 << 20);
	struct state_reply *bad[] = { range(a, -1, 1, "h", 1),
		range(a, 2, 1, "h", 1), range(a, 0, 16384, "h", 1),
		range(a, 0, 1, "h", 0), range(a, 0, 1, "h", 65536),
		range(a, 0, 1, "h h", 1), of_int(a, 1), of_array(a, NULL, 0) };
	struct state_reply *many[CLUSTER_NODES_MAX + 1];
	size_t i;

	for (i = 0; i < NELEM(bad); i++)
		ck_assert_int_eq(
		    slot_map_read(of_array(a, &bad[i], 1), "self", m),
		    RC_INVALID);
	ck_assert_int_eq(slot_map_read(of_int(a, 1), "self", m), RC_INVALID);
	ck_assert_int_eq(
	    slot_map_read(of_array(a, NULL, 0), "self", m), RC_NOENT);
	for (i = 0; i < NELEM(many); i++)
		many[i] = range(a, (int64_t)i, (int64_t)i, "h", (int64_t)i + 1);
	ck_assert_int_eq(
	    slot_map_read(of_array(a, many, NELEM(many)), "self", m),
	    RC_TOOBIG);
	arena_free(a);
	free(m);
}
