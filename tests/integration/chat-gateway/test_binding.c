/*
 * Which soul a terminal has: by selection, and by a hint.
 */
#include "peer.h"

#define SELECT    "POST", "/v1/souls/select"
#define REQUIRED  "terminal_id and soul_id are required"
#define NO_SOUL   "soul selection is required before chat"
#define NOT_FOUND "soul not found"

static const struct {
	const char *body, *text;
} bad_select[] = {
	{ "", "invalid json" },
	{ "nul", "invalid json" },
	{ "\"x\"", "invalid json" },
	{ "{}", REQUIRED },
	{ "{\"terminal_id\":\"t1\"}", REQUIRED },
	{ "{\"soul_id\":\"soul_x\"}", REQUIRED },
	{ "{\"terminal_id\":\"\",\"soul_id\":\"soul_x\"}", REQUIRED },
	{ "{\"soul_id\":\"\",\"terminal_id\":\"t1\"}", REQUIRED },
	{ "{\"terminal_id\":\"t1\",\"soul_id\":\"soul_x\"}", NOT_FOUND },
	{ "{\"terminal_id\":\"a/b\",\"soul_id\":\"soul_x\"}",
	    "/terminal_id: must not have control characters, /, + or #" },
	{ "{\"terminal_id\":7,\"soul_id\":\"soul_x\"}",
	    "/terminal_id: must be a string" },
};

TEST(what_is_no_selection_is_refused)
{
	char mine[SOUL_ID], body[256], text[256];
	struct bed b;
	size_t i;

	bed_start(&b, NULL);
	for (i = 0; i < NELEM(bad_select); i++)
		refused(
		    &b, SELECT, bad_select[i].body, 400, bad_select[i].text);
	make_soul(&b, "ann", "friendly", mine);
	snprintf(body, sizeof(body),
	    "{\"terminal_id\":\"t1\",\"soul_id\":\"%s\"}", mine);
	snprintf(text, sizeof(text),
	    "soul %s does not belong to user demo-user", mine);
	refused(&b, SELECT, body, 400, text);
	ck_assert(!is_bound(&b, "t1"));
	bed_stop(&b);
}

TEST(a_user_selects_and_selects_again)
{
	char one[SOUL_ID], two[SOUL_ID], body[256];
	struct bed b;
	json_t *j;

	bed_start(&b, NULL);
	make_soul(&b, NULL, "one", one);
	make_soul(&b, NULL, "two", two);
	snprintf(body, sizeof(body),
	    "{\"terminal_id\":\"灯 1\",\"soul_id\":\"%s\"}", one);
	j = take(&b, SELECT, body);
	ck_assert(json_is_true(tk_at(j, "ok")));
	ck_assert_str_eq(tk_text(j, "user_id"), "demo-user");
	ck_assert_str_eq(tk_text(j, "terminal_id"), "灯 1");
	ck_assert_str_eq(tk_text(j, "soul_id"), one);
	json_decref(j);
	bound(&b, "demo-user", "t1", one);
	has_soul(&b, "demo-user", "t1", one);
	bound(&b, "demo-user", "t1", two);
	has_soul(&b, "demo-user", "t1", two);
	bound(&b, "demo-user", "t1", two);
	has_soul(&b, "demo-user", "t1", two);
	bed_stop(&b);
}

TEST(another_users_terminal_must_be_unbound_first)
{
	static const char taken[] = "terminal t1 is bound by another user";
	char ann[SOUL_ID], bob[SOUL_ID];
	struct tk_answer a = { 0 };
	struct peer p;
	struct bed b;

	bed_start(&b, NULL);
	peer_start(&b, &p);
	make_soul(&b, "ann", "friendly", ann);
	make_soul(&b, "bob", "friendly", bob);
	bound(&b, "ann", "t1", ann);
	bind_soul(&b, &a, "bob", "t1", bob);
	answer_refuses(&a, 409, taken);
	refused(&b, "DELETE", "/v1/terminals/t1/soul?user_id=bob", NULL, 409,
	    taken);
	chat_refused(&b, "t1", "\"user_id\":\"bob\"", 409, taken);
	chat_refused(&b, "t1", "\"user_id\":\"bob\",\"soul_hint\":\"friendly\"",
	    409, taken);
	has_soul(&b, "ann", "t1", ann);
	done(&b, "DELETE", "/v1/terminals/t1/soul?user_id=ann", NULL);
	bound(&b, "bob", "t1", bob);
	has_soul(&b, "bob", "t1", bob);
	chat_ok(&b, "t1", "\"user_id\":\"bob\"");
	tk_answer_free(&a);
	peer_stop(&p);
	bed_stop(&b);
}

/* soul_id is what the client believes: it neither binds nor rebinds. */
TEST(a_chat_names_no_other_soul_than_the_terminals)
{
	char mine[SOUL_ID], other[SOUL_ID], bobs[SOUL_ID];
	char more[256], text[256];
	struct peer p;
	struct bed b;

	bed_start(&b, NULL);
	peer_start(&b, &p);
	make_soul(&b, "ann", "mine", mine);
	make_soul(&b, "ann", "other", other);
	make_soul(&b, "bob", "bobs", bobs);
	snprintf(
	    more, sizeof(more), "\"user_id\":\"ann\",\"soul_id\":\"%s\"", mine);
	chat_refused(&b, "t1", more, 400, NO_SOUL);
	bound(&b, "ann", "t1", mine);
	chat_ok(&b, "t1", more);
	snprintf(more, sizeof(more), "\"user_id\":\"ann\",\"soul_id\":\"%s\"",
	    other);
	snprintf(
	    text, sizeof(text), "terminal t1 has another soul than %s", other);
	chat_refused(&b, "t1", more, 400, text);
	snprintf(
	    more, sizeof(more), "\"user_id\":\"ann\",\"soul_id\":\"%s\"", bobs);
	snprintf(
	    text, sizeof(text), "soul %s does not belong to user ann", bobs);
	chat_refused(&b, "t1", more, 400, text);
	chat_refused(&b, "t1", "\"user_id\":\"ann\",\"soul_id\":\"soul_x\"",
	    400, NOT_FOUND);
	has_soul(&b, "ann", "t1", mine);
	/* A hint to one soul and belief in another bind to neither. */
	snprintf(more, sizeof(more),
	    "\"user_id\":\"ann\",\"soul_hint\":\"mine\",\"soul_id\":\"%s\"",
	    other);
	snprintf(
	    text, sizeof(text), "terminal t2 has another soul than %s", other);
	chat_refused(&b, "t2", more, 400, text);
	ck_assert(!is_bound(&b, "t2"));
	ck_assert_int_eq(atomic_load(&p.turns), 1);
	peer_stop(&p);
	bed_stop(&b);
}

TEST(a_hint_binds_to_the_one_soul_it_names)
{
	char one[SOUL_ID], two[SOUL_ID], more[256];
	struct peer p;
	struct bed b;

	bed_start(&b, NULL);
	peer_start(&b, &p);
	make_soul(&b, NULL, "friendly", one);
	/* The only soul is not taken for the one that is meant. */
	chat_refused(&b, "t1", "", 400, NO_SOUL);
	chat_refused(&b, "t1", "\"soul_hint\":\"\"", 400, NO_SOUL);
	make_soul(&b, NULL, "stern", two);
	chat_refused(&b, "t1", "\"soul_hint\":\"nobody\"", 400, NO_SOUL);
	chat_refused(&b, "t1", "\"soul_hint\":\"FRIENDLY\"", 400, NO_SOUL);
	ck_assert(!is_bound(&b, "t1"));
	chat_ok(&b, "t1", "\"soul_hint\":\" friendly \"");
	has_soul(&b, "demo-user", "t1", one);
	snprintf(more, sizeof(more), "\"soul_hint\":\"%s\"", two);
	chat_ok(&b, "t2", more);
	has_soul(&b, "demo-user", "t2", two);
	/* Once bound, hints say nothing any more. */
	chat_ok(&b, "t2", "\"soul_hint\":\"friendly\"");
	chat_ok(&b, "t2", "\"soul_hint\":\"nobody\"");
	chat_ok(&b, "t2", "");
	has_soul(&b, "demo-user", "t2", two);
	/* Nor are souls of others meant. */
	chat_refused(&b, "t3", "\"user_id\":\"bob\",\"soul_hint\":\"friendly\"",
	    400, NO_SOUL);
	snprintf(more, sizeof(more), "\"user_id\":\"bob\",\"soul_hint\":\"%s\"",
	    one);
	chat_refused(&b, "t3", more, 400, NO_SOUL);
	ck_assert_int_eq(atomic_load(&p.turns), 5);
	peer_stop(&p);
	bed_stop(&b);
}

TEST(a_hint_to_two_souls_names_none)
{
	char one[SOUL_ID], two[SOUL_ID], more[256];
	struct peer p;
	struct bed b;

	bed_start(&b, TK_ENV("SOUL_AUTO_CREATE=on"));
	peer_start(&b, &p);
	make_soul(&b, NULL, "friendly", one);
	/* Its name is the other's id. */
	make_soul(&b, NULL, one, two);
	snprintf(more, sizeof(more), "\"soul_hint\":\"%s\"", one);
	chat_refused(&b, "t1", more, 400, NO_SOUL);
	ck_assert(!is_bound(&b, "t1"));
	snprintf(more, sizeof(more), "\"soul_hint\":\"%s\"", two);
	chat_ok(&b, "t1", more);
	has_soul(&b, "demo-user", "t1", two);
	peer_stop(&p);
	bed_stop(&b);
}

TEST(the_bodys_own_hint_counts_when_the_chat_has_none)
{
	char one[SOUL_ID], two[SOUL_ID];
	struct peer p;
	struct bed b;

	bed_start(&b, NULL);
	peer_start(&b, &p);
	make_soul(&b, NULL, "friendly", one);
	make_soul(&b, NULL, "stern", two);
	reported(&b, "t1", "[]", "stern");
	reported(&b, "t2", "[]", "stern");
	reported(&b, "t3", "[]", "stern");
	chat_ok(&b, "t1", "");
	has_soul(&b, "demo-user", "t1", two);
	chat_ok(&b, "t2", "\"soul_hint\":\"friendly\"");
	has_soul(&b, "demo-user", "t2", one);
	chat_refused(&b, "t3", "\"soul_hint\":\"nobody\"", 400, NO_SOUL);
	chat_ok(&b, "t3", "\"soul_hint\":\"  \"");
	has_soul(&b, "demo-user", "t3", two);
	peer_stop(&p);
	bed_stop(&b);
}

#define RACES 60

/*
 * A selection that was answered stays, whatever hints other replicas follow at
 * the same moment.
 */
TEST(a_hint_never_undoes_a_selection)
{
	char one[SOUL_ID], two[SOUL_ID], terminal[16], body[256];
	struct tk_http hint = { 0 }, select = { 0 };
	struct tk_answer a = { 0 };
	struct bed b, other;
	struct peer p;
	int i;

	bed_start(&b, NULL);
	peer_start(&b, &p);
	make_soul(&b, NULL, "one", one);
	make_soul(&b, NULL, "two", two);
	other = b;
	other.gateway = (struct tk_service){ 0 };
	bed_spawn(&other, &other.gateway, "chat-gateway", NULL);
	for (i = 0; i < RACES; i++) {
		snprintf(terminal, sizeof(terminal), "t%d", i);
		snprintf(body, sizeof(body),
		    "{\"session_id\":\"s\",\"terminal_id\":\"%s\","
		    "\"soul_hint\":\"two\",\"inputs\":"
		    "[{\"type\":\"keyboard_text\",\"text\":\"x\"}]}",
		    terminal);
		ask_begin(&other, &hint, "POST", "/v1/chat", body);
		snprintf(body, sizeof(body),
		    "{\"terminal_id\":\"%s\",\"soul_id\":\"%s\"}", terminal,
		    one);
		ask_begin(&b, &select, "POST", "/v1/souls/select", body);
		ck_assert(tk_http_read(&hint, &a, BED_MS));
		ck_assert_int_eq(a.status, 200);
		ck_assert(tk_http_read(&select, &a, BED_MS));
		ck_assert_int_eq(a.status, 200);
		tk_http_close(&hint);
		tk_http_close(&select);
		has_soul(&b, "demo-user", terminal, one);
	}
	tk_service_end(&other.gateway);
	tk_answer_free(&a);
	peer_stop(&p);
	bed_stop(&b);
}
