/* A user's sessions in short, that of the latest input first. */
#include <stdio.h>
#include <string.h>

#include "state/session.h"
#include "state/session_index.h"
#include "testkit/state_fixture.h"

STATE_FIXTURE_ON_CLUSTER

#define IDLE_MS 1000000

static struct session_key
key(const char *session)
{
	return (struct session_key){ STR("one/u"), str_of(session) };
}

static void
input(struct state_fixture *b, const char *session)
{
	struct session_key k = key(session);

	OK(session_user_input(b->s, &k, STR("soul_1"), STR("lamp:1"), IDLE_MS));
}

static void
message(struct state_fixture *b, const char *session, const char *json)
{
	struct session_key k = key(session);
	struct str s = str_of(json);

	OK(session_append(b->s, &k, &s, 1, NULL));
}

/* A page of max; its sessions, each with a comma. */
static void
page_is(struct state_fixture *b, struct session_index_page *p, size_t max,
    const char *want)
{
	char have[256] = "";
	size_t i, n = 0;

	p->max = max;
	OK(session_index_read(b->s, STR("one/u"), b->a, p));
	for (i = 0; i < p->n; i++)
		n += (size_t)snprintf(have + n, sizeof(have) - n, "%.*s,",
		    STR_ARG(p->entry[i].session_id));
	ck_assert_str_eq(have, want);
	p->after = p->next;
}

TEST(pages_are_in_order_and_complete)
{
	struct session_index_page p = { .max = 1 };
	struct state_fixture b;
	int i;

	state_fixture_start(&b);
	page_is(&b, &p, 5, "");
	ck_assert_ptr_null(p.next.p);
	/* Many in few milliseconds: all are listed, each once. */
	for (i = 0; i < 12; i++) {
		char id[16];

		snprintf(id, sizeof(id), "s/%d", i);
		input(&b, id);
	}
	for (i = 0; i == 0 || p.after.p != NULL; i++) {
		p.max = 1;
		OK(session_index_read(b.s, STR("one/u"), b.a, &p));
		ck_assert_uint_eq(p.n, 1);
		p.after = p.next;
	}
	ck_assert_int_eq(i, 12);
	OK(session_index_read(
	    b.s, STR("two/u"), b.a, &(struct session_index_page){ .max = 1 }));
	p.after = STR("x");
	ck_assert_int_eq(
	    session_index_read(b.s, STR("one/u"), b.a, &p), RC_INVALID);
	p = (struct session_index_page){ .max = SESSION_INDEX_PAGE_MAX + 1 };
	ck_assert_int_eq(
	    session_index_read(b.s, STR("one/u"), b.a, &p), RC_INVALID);
	state_fixture_stop(&b);
}

static const struct session_entry *
only(struct state_fixture *b)
{
	static struct session_index_page p;

	p = (struct session_index_page){ .max = 10 };
	OK(session_index_read(b->s, STR("one/u"), b->a, &p));
	ck_assert_uint_eq(p.n, 1);
	return &p.entry[0];
}

TEST(an_entry_has_the_newest_text)
{
	const struct session_entry *e;
	struct state_fixture b;
	char json[2048], large[1024] = "";
	int i;

	state_fixture_start(&b);
	input(&b, "s1");
	e = only(&b);
	ck_assert(str_eq(e->soul_id, STR("soul_1")));
	ck_assert(str_eq(e->terminal_id, STR("lamp:1")));
	ck_assert_int_gt(e->active.ms, 0);
	ck_assert_int_eq(e->messages, 0);
	ck_assert_ptr_null(e->last_text.p);
	message(&b, "s1", "{\"role\":\"user\",\"content\":\"开灯\"}");
	message(&b, "s1", "{\"role\":\"tool\",\"content\":\"done\"}");
	e = only(&b);
	ck_assert_int_eq(e->messages, 2);
	ck_assert(str_eq(e->last_text, STR("开灯")));
	/* At most 480 bytes, and whole characters. */
	for (i = 0; i < 200; i++)
		memcpy(large + 3 * i, "好", 4);
	snprintf(json, sizeof(json),
	    "{\"role\":\"assistant\",\"content\":\"a%s\"}", large);
	message(&b, "s1", json);
	e = only(&b);
	ck_assert_uint_gt(e->last_text.n, 470);
	ck_assert_uint_le(e->last_text.n, 480);
	ck_assert_int_gt(str_utf8_count(e->last_text), 0);
	state_fixture_stop(&b);
}
