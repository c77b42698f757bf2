/*
 * A guest talks to a soul of another user: the session is the guest's, the body
 * its owner's.
 */
#include "core/mem.h"
#include "state/session.h"
#include "state/star_home.h"
#include "testkit/orch_fixture.h"

#define GUEST "star:human:bob"

static size_t
messages_of(struct orch_fixture *b, const char *user)
{
	const struct session_key key = { str_of(user), STR("s1") };
	struct session_page page = { .after = -1, .max = 16 };
	struct session_list list;
	enum rc rc;

	arena_reset(b->arena);
	rc = session_messages(b->state, &key, page, b->arena, &list);
	ck_assert(rc == RC_OK || rc == RC_NOENT);
	return rc == RC_OK ? list.n : 0;
}

/* With the record of the body in the request, and without. */
TEST(a_guest_uses_the_body_of_the_souls_owner)
{
	struct orch_turn_opts o = { .user = GUEST, .owner = "u1" };
	struct orch_fixture b;
	struct orch_turn t;
	int i;

	orch_fixture_start(&b, 1);
	ck_assert_int_eq(
	    star_guest_enter(b.state, STR("u1"), STR("soul_1"), STR(GUEST)),
	    RC_OK);
	for (i = 0; i < 2; i++) {
		o.unread = i == 1;
		orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
		orch_peers_set(&b.peers, body, BODY_OK);
		orch_model_reply(
		    &b.model, "好。", "[[\"nod\",\"{\\\"times\\\":1}\"]]");
		orch_turn_start_with(&t, &b, "表示同意", &o);
		orch_ck_completed(
		    &t, .reply = "好。", .executed = "nod", .failed = "");
		orch_turn_close(&t);
	}
	ck_assert_uint_eq(messages_of(&b, GUEST), 8);
	ck_assert_uint_eq(messages_of(&b, "u1"), 0);
	orch_fixture_stop(&b);
}

TEST(a_guest_needs_the_owner_and_the_soul)
{
	static const struct {
		struct orch_turn_opts o;
		const char *text;
		int status;
	} rows[] = {
		{ { .user = GUEST }, "the terminal is bound by another user",
		    409 },
		{ { .user = GUEST, .owner = "u2" },
		    "the terminal is bound by another user", 409 },
		/* It does not know the soul. */
		{ { .user = GUEST, .owner = "u1" },
		    "soul selection is required before chat", 400 },
		{ { .user = GUEST, .owner = "u1", .unread = true },
		    "soul selection is required before chat", 400 },
	};
	struct orch_fixture b;
	struct orch_turn t;
	size_t i;

	orch_fixture_start(&b, 1);
	for (i = 0; i < NELEM(rows); i++) {
		orch_turn_start_with(&t, &b, "你好", &rows[i].o);
		json_t *j = orch_turn_end(&t);
		ck_assert_str_eq(orch_text(j, "error.error"), rows[i].text);
		ck_assert_int_eq(
		    json_integer_value(tk_find(j, "status")), rows[i].status);
		orch_turn_close(&t);
	}
	orch_fixture_stop(&b);
}
