/* What becomes of commands, and what is remembered of them. */
#include <string.h>

#include "asked.h"
#include "core/mem.h"
#include "delivery.h"
#include "testkit/testkit.h"

enum { SENT = -1 };

static const struct {
	int64_t deadlines[2];
	bool up;
	enum rc known;
	bool present;
	enum rc rc;
	int state; /* SENT: it is sent */
} cases[] = {
	{ { 0, 0 }, true, RC_OK, true, RC_OK, SENT },
	{ { 1000, 1000 }, true, RC_OK, true, RC_OK, SENT },
	{ { 999, 0 }, true, RC_OK, true, RC_OK, WIRE_DELIVERY_STATE_LATE },
	{ { 0, 999 }, true, RC_OK, true, RC_OK, WIRE_DELIVERY_STATE_LATE },
	{ { 5000, 1 }, true, RC_OK, true, RC_OK, WIRE_DELIVERY_STATE_LATE },
	{ { 999, 0 }, false, RC_DOWN, false, RC_OK, WIRE_DELIVERY_STATE_LATE },
	{ { 0, 0 }, true, RC_OK, false, RC_OK, WIRE_DELIVERY_STATE_OFFLINE },
	{ { 0, 0 }, false, RC_OK, true, RC_DOWN, 0 },
	{ { 0, 0 }, true, RC_DOWN, false, RC_DOWN, 0 },
	/* Redis did not answer: the body got nothing all the same. */
	{ { 0, 0 }, true, RC_TIMEOUT, false, RC_DOWN, 0 },
	{ { 0, 0 }, true, RC_INVALID, false, RC_INVALID, 0 },
};

TEST(before_sending)
{
	struct delivery_facts f;
	struct delivery d;
	bool go;
	size_t i;

	for (i = 0; i < NELEM(cases); i++) {
		f = (struct delivery_facts){ .now = { 1000 },
			.deadlines = { { cases[i].deadlines[0] },
			    { cases[i].deadlines[1] } },
			.up = cases[i].up,
			.known = cases[i].known,
			.present = cases[i].present };
		go = delivery_before(&f, &d);
		ck_assert_msg(go == (cases[i].state == SENT), "case %zu", i);
		if (go)
			continue;
		ck_assert_msg(d.rc == cases[i].rc, "case %zu", i);
		if (d.rc == RC_OK)
			ck_assert_msg(
			    (int)d.state == cases[i].state, "case %zu", i);
	}
}

TEST(after_sending)
{
	struct delivery d = delivery_after(RC_OK);

	ck_assert_int_eq(d.rc, RC_OK);
	ck_assert_int_eq(d.state, WIRE_DELIVERY_STATE_DELIVERED);
	d = delivery_after(RC_NOENT);
	ck_assert_int_eq(d.rc, RC_OK);
	ck_assert_int_eq(d.state, WIRE_DELIVERY_STATE_NO_SUBSCRIBER);
	ck_assert_int_eq(delivery_after(RC_DOWN).rc, RC_DOWN);
	ck_assert_int_eq(delivery_after(RC_TIMEOUT).rc, RC_TIMEOUT);
	ck_assert_int_eq(delivery_after(RC_RETRY).rc, RC_RETRY);
	ck_assert_int_eq(delivery_after(RC_DENIED).rc, RC_DENIED);
}

TEST(a_note_is_read_back)
{
	struct asked a = { .skill = STR("control light 灯"), .at = { 12345 } };
	struct asked got;
	char note[ASKED_NOTE_MAX], skill[129];
	struct str s;

	trace_new(&a.trace);
	s = asked_note(&a, note);
	ck_assert(asked_read(s, &got));
	ck_assert(str_eq(got.skill, a.skill));
	ck_assert_int_eq(got.at.ms, 12345);
	ck_assert_str_eq(got.trace.trace_id, a.trace.trace_id);
	memset(skill, 'x', sizeof(skill));
	a.skill = (struct str){ skill, 128 };
	a.at.ms = INT64_MAX;
	ck_assert(asked_read(asked_note(&a, note), &got));
	ck_assert(str_eq(got.skill, a.skill));
	ck_assert(!asked_read(STR(""), &got));
	ck_assert(!asked_read((struct str){ NULL, 0 }, &got));
	ck_assert(!asked_read(STR("a b c"), &got));
	s.n = strlen("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
	ck_assert(!asked_read((struct str){ note, s.n }, &got));
}
