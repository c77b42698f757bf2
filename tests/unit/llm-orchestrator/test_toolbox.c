/*
 * The cache of catalogs.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/buf.h"
#include "core/mem.h"
#include "testkit/testkit.h"
#include "tools/tool_catalog.h"

#define TURNS 100
#define ROOM  ((size_t)64 * 1024)

struct bench {
	struct metric_set *set;
	struct tool_cache *box;
};

static void
bench_open(struct bench *b)
{
	b->set = metric_set_new();
	b->box = tool_cache_new(ROOM, b->set);
}

static void
bench_close(struct bench *b)
{
	tool_cache_free(b->box);
	metric_set_free(b->set);
}

static int64_t
times_read(struct bench *b)
{
	return metric_value(
	    metric_counter(b->set, "soul_turn_skills_read_total", "", NULL));
}

static struct tool_catalog *
get(struct bench *b, const char *skills)
{
	struct tool_catalog *t;

	ck_assert_int_eq(tool_cache_get(b->box, str_of(skills), &t), RC_OK);
	return t;
}

/* 250 skills, one list for each number. */
static char *
many(int number)
{
	struct buf b = BUF_INIT(1024 * 1024);
	char *text;

	buf_putc(&b, '[');
	for (int i = 0; i < 250; i++)
		buf_printf(&b,
		    "%s{\"name\":\"s%d_%d\",\"input_schema\":{\"type\":"
		    "\"object\",\"properties\":{\"a\":{\"type\":"
		    "\"integer\"}}}}",
		    i > 0 ? "," : "", number, i);
	buf_putc(&b, ']');
	text = str_dup(buf_str(&b));
	buf_free(&b);
	return text;
}

TEST(equal_skills_share_a_catalog)
{
	struct bench b;
	char *skills = many(1);

	bench_open(&b);
	struct tool_catalog *first = get(&b, skills);
	for (int i = 1; i < TURNS; i++) {
		struct tool_catalog *t = get(&b, skills);
		ck_assert_ptr_eq(t, first);
		tool_prepare(tool_catalog_at(t, 249));
		tool_catalog_free(t);
	}
	ck_assert_int_eq(times_read(&b), 1);
	ck_assert_uint_eq(tool_catalog_n(first), 250);
	tool_catalog_free(first);
	/* Other skills have another catalog, as have none. */
	tool_catalog_free(get(&b, "[{\"name\":\"nod\"}]"));
	tool_catalog_free(get(&b, NULL));
	tool_catalog_free(get(&b, NULL));
	ck_assert_int_eq(times_read(&b), 3);
	free(skills);
	bench_close(&b);
}

/* A referenced catalog outlives its entry; an evicted one is decoded again. */
TEST(the_least_recently_used_are_evicted)
{
	struct bench b;
	char *one = many(1), *two = many(2);

	bench_open(&b);
	struct tool_catalog *held = get(&b, one);
	tool_catalog_free(get(&b, two));
	ck_assert_int_eq(times_read(&b), 2);
	ck_assert(str_eq(
	    tool_catalog_by_skill(held, STR("s1_249"))->name, STR("s1_249")));
	tool_catalog_free(get(&b, one));
	ck_assert_int_eq(times_read(&b), 3);
	bench_close(&b);
	ck_assert(str_eq(tool_catalog_at(held, 0)->skill, STR("s1_0")));
	tool_catalog_free(held);
	free(one);
	free(two);
}

TEST(invalid_skills_are_not_cached)
{
	struct bench b;
	struct tool_catalog *t;

	bench_open(&b);
	ck_assert_int_eq(
	    tool_cache_get(b.box, STR("{\"skills\":7}"), &t), RC_INVALID);
	bench_close(&b);
}
