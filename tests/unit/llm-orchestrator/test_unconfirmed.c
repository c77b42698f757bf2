/*
 * Unconfirmed invokes of a session, and their report.
 */
#include <stdio.h>

#include "core/mem.h"
#include "model/model.h"
#include "reply/reply_compose.h"
#include "testkit/testkit.h"
#include "tools/unconfirmed.h"

#define NOW INT64_C(1800000000000)

static struct turn_call *
call(struct turn *t, enum turn_call_kind kind, enum turn_outcome outcome,
    const char *request)
{
	struct turn_call *d = &t->calls[t->n_calls++];

	*d = (struct turn_call){ .kind = kind,
		.outcome = outcome,
		.skill = STR("nod"),
		.label = STR("点头"),
		.request_id = str_of(request) };
	return d;
}

#define is(s, text) ck_assert_msg(str_eq((s), str_of(text)), "%.*s", STR_ARG(s))

TEST(only_unconfirmed_invokes_are_stored)
{
	struct arena *a = arena_new(64 * 1024);
	struct unconfirmed l = { .n = 0 }, back;
	struct turn t;

	turn_init(&t, 4);
	call(&t, TURN_INVOKE, TURN_OK, "r1");
	call(&t, TURN_INVOKE, TURN_ERROR, "r2");
	call(&t, TURN_INVOKE, TURN_NOT_CONFIRMED, "r3");
	call(&t, TURN_DIRECT, TURN_NOT_CONFIRMED, NULL);
	call(&t, TURN_INVOKE, TURN_BLOCKED, NULL);
	unconfirmed_add(&l, &t, STR("t1"), NOW);
	ck_assert_uint_eq(l.n, 1);
	unconfirmed_read(unconfirmed_write(&l, true, a), NOW + 5, a, &back);
	ck_assert_uint_eq(back.n, 1);
	is(back.item[0].request_id, "r3");
	is(back.item[0].terminal_id, "t1");
	is(back.item[0].skill, "nod");
	is(back.item[0].label, "点头");
	ck_assert_int_eq(back.item[0].since, NOW);
	ck_assert_int_eq(back.item[0].outcome, TURN_NOT_CONFIRMED);
	is(unconfirmed_sentences(&back, a), "");
	arena_free(a);
}

/* The newest UNCONFIRMED_MAX, without old ones. */
TEST(age_and_number_are_limited)
{
	struct arena *a = arena_new(64 * 1024);
	struct unconfirmed l = { .n = 0 }, back;
	char ids[UNCONFIRMED_MAX + 3][8];
	struct turn t;

	turn_init(&t, 4);
	for (size_t i = 0; i < NELEM(ids); i++) {
		snprintf(ids[i], sizeof(ids[i]), "r%zu", i);
		call(&t, TURN_INVOKE, TURN_NOT_CONFIRMED, ids[i]);
	}
	unconfirmed_add(&l, &t, STR("t1"), NOW);
	ck_assert_uint_eq(l.n, UNCONFIRMED_MAX);
	is(l.item[0].request_id, "r3");
	is(l.item[UNCONFIRMED_MAX - 1].request_id, ids[UNCONFIRMED_MAX + 2]);
	struct str stored = unconfirmed_write(&l, true, a);
	unconfirmed_read(stored, NOW + UNCONFIRMED_MS - 1, a, &back);
	ck_assert_uint_eq(back.n, UNCONFIRMED_MAX);
	unconfirmed_read(stored, NOW + UNCONFIRMED_MS, a, &back);
	ck_assert_uint_eq(back.n, 0);
	is(unconfirmed_write(&back, true, a), "");
	arena_free(a);
}

TEST(an_invalid_list_is_empty)
{
	static const char *const rows[] = { "", "{", "7", "{}", "[1,{},[]]",
		"[{\"request_id\":\"r\",\"since\":1}]",
		"[{\"request_id\":7,\"terminal_id\":\"t\",\"skill\":\"s\","
		"\"label\":\"l\",\"since\":1800000000000}]" };
	struct arena *a = arena_new(64 * 1024);
	struct unconfirmed l;

	for (size_t i = 0; i < NELEM(rows); i++) {
		unconfirmed_read(str_of(rows[i]), NOW, a, &l);
		ck_assert_uint_eq(l.n, 0);
	}
	arena_free(a);
}

/* Known results are reported, and stored only until then. */
TEST(reported_results_are_dropped)
{
	struct arena *a = arena_new(64 * 1024);
	struct unconfirmed l = { .n = 3 };

	for (size_t i = 0; i < l.n; i++)
		l.item[i] = (struct unconfirmed_item){ .request_id = STR("r"),
			.terminal_id = STR("t"),
			.skill = STR("nod"),
			.label = STR("点头"),
			.since = NOW,
			.outcome = TURN_NOT_CONFIRMED };
	l.item[0].outcome = TURN_OK;
	l.item[2].outcome = TURN_ERROR;
	l.item[2].why = STR("stuck");
	is(unconfirmed_sentences(&l, a),
	    "之前没有得到确认的点头，后来已经完成。"
	    "之前没有得到确认的点头没有成功：stuck。");
	struct unconfirmed back;
	unconfirmed_read(unconfirmed_write(&l, true, a), NOW, a, &back);
	ck_assert_uint_eq(back.n, 1);
	unconfirmed_read(unconfirmed_write(&l, false, a), NOW, a, &back);
	ck_assert_uint_eq(back.n, 3);
	arena_free(a);
}

/* The report follows the model's text, and is stored. */
TEST(results_are_part_of_the_reply)
{
	static const struct history_mark mark = { STR_INIT("turn_1"),
		STR_INIT("2026-11-20T12:00:00Z") };
	struct arena *a = arena_new(1024 * 1024);
	struct history_stored s;
	struct str reply;
	struct turn t;

	turn_init(&t, 4);
	t.has_text = true;
	t.text = STR("你好。");
	t.earlier = STR("之前没有得到确认的点头，后来已经完成。");
	ck_assert_int_eq(reply_compose(&t, false, a, &reply), RC_OK);
	is(reply, "你好。\n之前没有得到确认的点头，后来已经完成。");
	ck_assert_int_eq(history_outcome(&t, reply, &mark, a, &s), RC_OK);
	ck_assert_uint_eq(s.n, 2);
	ck_assert_int_ge(str_find(s.list[0],
			     STR("\"role\":\"observation\",\"content\":"
				 "\"[late_result] 之前")),
	    0);
	/* <NO_REPLY> does not suppress it. */
	t.text = STR("<NO_REPLY>");
	ck_assert_int_eq(reply_compose(&t, false, a, &reply), RC_OK);
	is(reply, "之前没有得到确认的点头，后来已经完成。");
	/* A turn without a reply has reported nothing. */
	ck_assert_int_eq(
	    history_outcome(&t, (struct str){ 0 }, &mark, a, &s), RC_OK);
	ck_assert_uint_eq(s.n, 0);
	arena_free(a);
}
