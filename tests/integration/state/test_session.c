/* Sessions: messages, their numbers, summaries, deletion. */
#include "state/session.h"
#include "state/turn.h"
#include "testkit/state_fixture.h"

STATE_FIXTURE_ON_CLUSTER

static const struct session_key key = { STR_INIT("用户"), STR_INIT("s:1") };

/* Append messages whose text is their number, from first to last. */
static void
append_numbers(struct state_fixture *b, int64_t first, int64_t last)
{
	char text[SESSION_APPEND_MAX][24];
	struct str json[SESSION_APPEND_MAX];
	int64_t got;
	size_t n;

	while (first <= last) {
		for (n = 0;
		     n < SESSION_APPEND_MAX && first + (int64_t)n <= last;
		     n++) {
			snprintf(text[n], sizeof(text[n]), "%d",
			    (int)first + (int)n);
			json[n] = str_of(text[n]);
		}
		OK(session_append(b->s, &key, json, n, &got));
		ck_assert_int_eq(got, first);
		first += (int64_t)n;
	}
}

/* Check that a page has the messages from first to last. */
static void
ck_page(struct state_fixture *b, int64_t after, size_t max, int64_t first,
    int64_t last)
{
	struct session_list l;
	int64_t v;
	size_t i;

	arena_reset(b->a);
	OK(session_messages(b->s, &key,
	    (struct session_page){ .after = after, .max = max }, b->a, &l));
	ck_assert_int_eq((int64_t)l.n, last - first + 1);
	for (i = 0; i < l.n; i++) {
		ck_assert_int_eq(l.message[i].number, first + (int64_t)i);
		OK(str_to_i64(l.message[i].json, 0, INT32_MAX, &v));
		ck_assert_int_eq(v, l.message[i].number);
	}
}

TEST(an_unknown_record_is_no_error)
{
	struct session_list l;
	struct session out;
	struct state_fixture b;

	state_fixture_start(&b);
	OK(session_read(b.s, &key, b.a, &out));
	ck_assert(!out.known);
	ck_text(out.summary, NULL);
	ck_assert_int_eq(out.summarised, 0);
	ck_assert_int_eq(out.active.ms, 0);
	OK(session_messages(b.s, &key,
	    (struct session_page){ .after = -1, .max = 10 }, b.a, &l));
	ck_assert_uint_eq(l.n, 0);
	IS(RC_NOENT,
	    session_summarise(b.s, &key,
		&(struct session_summary){
		    .text = STR("x"), .after = 0, .number = 1 }));
	IS(RC_NOENT, session_delete(b.s, &key));
	ck_assert_int_eq(INT_OF(&b, STR("DBSIZE")), 0);
	state_fixture_stop(&b);
}

TEST(messages_are_read_in_pages)
{
	struct session_key other = { STR("another"), key.session_id };
	struct session_page page = { .after = -1, .max = 100 };
	struct session_list l;
	struct state_fixture b;

	state_fixture_start(&b);
	append_numbers(&b, 1, 100);
	OK(session_messages(b.s, &key, page, b.a, &l));
	ck_assert_uint_eq(l.n, 100);
	/* As many of the newest as fit, but at least one. */
	page.bytes = l.message[99].json.n + l.message[98].json.n;
	OK(session_messages(b.s, &key, page, b.a, &l));
	ck_assert_uint_eq(l.n, 2);
	ck_assert_int_eq(l.message[1].number, 100);
	page.bytes = 1;
	OK(session_messages(b.s, &key, page, b.a, &l));
	ck_assert_uint_eq(l.n, 1);
	ck_assert_int_eq(l.message[0].number, 100);
	ck_page(&b, -1, 10, 91, 100);
	ck_page(&b, -1, 1000, 1, 100);
	ck_page(&b, 0, 10, 1, 10);
	ck_page(&b, 10, 85, 11, 95);
	ck_page(&b, 95, 10, 96, 100);
	ck_page(&b, 99, 1, 100, 100);
	ck_page(&b, 100, 10, 101, 100);
	ck_page(&b, 5000, 10, 101, 100);
	ck_page(&b, 50, 0, 101, 100);
	ck_page(&b, -1, 0, 101, 100);
	ck_page(&b, -7, 1, 100, 100);
	/* Not another user's. */
	OK(session_messages(b.s, &other,
	    (struct session_page){ .after = 0, .max = 10 }, b.a, &l));
	ck_assert_uint_eq(l.n, 0);
	state_fixture_stop(&b);
}

TEST(numbers_continue_after_trimming)
{
	const int64_t max = SESSION_MESSAGES_MAX;
	struct state_fixture b;

	state_fixture_start(&b);
	append_numbers(&b, 1, max + 300);
	ck_page(&b, 0, SIZE_MAX, 301, max + 300);
	ck_page(&b, 1, 10, 301, 310);
	ck_page(&b, 400, 10, 401, 410);
	ck_page(&b, -1, SIZE_MAX, 301, max + 300);
	/* Even after all were removed. */
	DO(&b, STR("DEL"), STR("soul:messages:{b0193}:~55So5oi3:~czox"));
	append_numbers(&b, max + 301, max + 301);
	ck_page(&b, 0, 10, max + 301, max + 301);
	state_fixture_stop(&b);
}

TEST(large_messages_limit_a_page)
{
	static char text[SESSION_TEXT_MAX + 1];
	struct str json = { text, sizeof(text) }, many[20];
	struct arena *small = arena_new(1000);
	struct session_list l;
	struct state_fixture b;
	size_t i;

	memset(text, 'x', sizeof(text));
	state_fixture_start(&b);
	IS(RC_TOOBIG, session_append(b.s, &key, &json, 1, NULL));
	json.n--;
	for (i = 0; i < NELEM(many); i++)
		many[i] = json;
	OK(session_append(b.s, &key, many, NELEM(many), NULL));
	/* 16 of them are SESSION_PAGE_BYTES. */
	OK(session_messages(b.s, &key,
	    (struct session_page){ .after = 0, .max = 100 }, b.a, &l));
	ck_assert_uint_eq(l.n, 16);
	ck_assert_int_eq(l.message[0].number, 1);
	ck_assert(str_eq(l.message[15].json, json));
	OK(session_messages(b.s, &key,
	    (struct session_page){ .after = 16, .max = 100 }, b.a, &l));
	ck_assert_uint_eq(l.n, 4);
	ck_assert_int_eq(l.message[3].number, 20);
	OK(session_messages(b.s, &key,
	    (struct session_page){ .after = -1, .max = 100 }, b.a, &l));
	ck_assert_uint_eq(l.n, 16);
	ck_assert_int_eq(l.message[0].number, 5);
	ck_assert_int_eq(l.message[15].number, 20);
	IS(RC_TOOBIG,
	    session_messages(b.s, &key,
		(struct session_page){ .after = -1, .max = 1 }, small, &l));
	ck_assert_uint_eq(l.n, 0);
	arena_free(small);
	state_fixture_stop(&b);
}

TEST(a_summary_replaces_the_one_before)
{
	struct session out;
	struct state_fixture b;

	state_fixture_start(&b);
	append_numbers(&b, 1, 20);
	OK(session_summarise(b.s, &key,
	    &(struct session_summary){
		.text = STR("of ten"), .after = 0, .number = 10 }));
	OK(session_read(b.s, &key, b.a, &out));
	ck_assert(out.known);
	ck_text(out.summary, "of ten");
	ck_assert_int_eq(out.summarised, 10);
	IS(RC_CONFLICT,
	    session_summarise(b.s, &key,
		&(struct session_summary){
		    .text = STR("of nine"), .after = 0, .number = 9 }));
	IS(RC_CONFLICT,
	    session_summarise(b.s, &key,
		&(struct session_summary){
		    .text = STR("of more"), .after = 10, .number = 21 }));
	OK(session_summarise(b.s, &key,
	    &(struct session_summary){
		.text = STR("of all"), .after = 10, .number = 20 }));
	OK(session_read(b.s, &key, b.a, &out));
	ck_text(out.summary, "of all");
	ck_assert_int_eq(out.summarised, 20);
	IS(RC_INVALID,
	    session_summarise(b.s, &key,
		&(struct session_summary){
		    .text = STR("x"), .after = 20, .number = 20 }));
	state_fixture_stop(&b);
}

TEST(an_input_sets_soul_terminal_and_activity)
{
	int64_t before, after;
	struct session out;
	struct state_fixture b;

	state_fixture_start(&b);
	before = state_fixture_now(&b);
	OK(session_user_input(b.s, &key, STR("soul 1"), STR("t/1"), 60000));
	after = state_fixture_now(&b);
	OK(session_read(b.s, &key, b.a, &out));
	ck_assert(out.known);
	ck_text(out.soul_id, "soul 1");
	ck_text(out.terminal_id, "t/1");
	ck_assert_int_ge(out.active.ms, before);
	ck_assert_int_le(out.active.ms, after);
	OK(session_user_input(b.s, &key, STR("soul 2"), STR("t2"), 60000));
	OK(session_read(b.s, &key, b.a, &out));
	ck_text(out.soul_id, "soul 2");
	ck_text(out.terminal_id, "t2");
	IS(RC_INVALID, session_user_input(b.s, &key, STR(""), STR("t"), 60000));
	IS(RC_INVALID,
	    session_user_input(b.s, &key, STR("s"), (struct str){ 0 }, 60000));
	IS(RC_INVALID, session_user_input(b.s, &key, STR("s"), STR("t"), -1));
	state_fixture_stop(&b);
}

TEST(a_deleted_session_has_no_turns)
{
	struct turn_slot p = { key, STR("i1"), STR("turn_1") };
	struct session_idle_list idle;
	struct session out;
	struct state_fixture b;
	int64_t ahead;

	state_fixture_start(&b);
	OK(turn_fixture_enter(b.s, &p, &ahead));
	OK(session_user_input(b.s, &key, STR("soul"), STR("t"), 0));
	OK(turn_fixture_append(b.s, &p, &STR("1"), 1));
	OK(session_delete(b.s, &key));
	IS(RC_NOENT, session_delete(b.s, &key));
	OK(session_read(b.s, &key, b.a, &out));
	ck_assert(!out.known);
	ck_page(&b, -1, 10, 1, 0);
	OK(session_fixture_claim(&b, "用户", 1000, 10, &idle));
	ck_assert_uint_eq(idle.n, 0);
	/* The turn that ran cannot write to it. */
	IS(RC_CONFLICT, turn_check_head(b.s, &p));
	IS(RC_CONFLICT, turn_fixture_append(b.s, &p, &STR("2"), 1));
	IS(RC_NOENT, turn_fixture_poll(b.s, &p, &ahead));
	OK(session_read(b.s, &key, b.a, &out));
	ck_assert(!out.known);
	/* A later session of that id is another conversation. */
	append_numbers(&b, 1, 3);
	IS(RC_CONFLICT,
	    session_summarise(b.s, &key,
		&(struct session_summary){
		    .text = STR("old"), .after = 0, .number = 20 }));
	state_fixture_stop(&b);
}

TEST(wrong_arguments_are_rejected)
{
	struct session_key bad[] = { { STR("u"), STR("") },
		{ STR(""), STR("s") }, { STR("u"), STR("\x7f") } };
	static struct str many[SESSION_APPEND_MAX + 1];
	struct session_list l;
	struct session out;
	struct state_fixture b;
	size_t i;

	state_fixture_start(&b);
	for (i = 0; i < NELEM(bad); i++) {
		IS(RC_INVALID, session_read(b.s, &bad[i], b.a, &out));
		IS(RC_INVALID,
		    session_append(b.s, &bad[i], &STR("1"), 1, NULL));
		IS(RC_INVALID, session_delete(b.s, &bad[i]));
		IS(RC_INVALID,
		    session_messages(b.s, &bad[i],
			(struct session_page){ .after = 0, .max = 1 }, b.a,
			&l));
	}
	IS(RC_INVALID, session_append(b.s, &key, many, 0, NULL));
	IS(RC_INVALID,
	    session_append(b.s, &key, many, SESSION_APPEND_MAX + 1, NULL));
	ck_assert_int_eq(INT_OF(&b, STR("DBSIZE")), 0);
	OK(session_append(b.s, &key, many, SESSION_APPEND_MAX, NULL));
	state_fixture_stop(&b);
}

#define PEERS  4
#define ROUNDS 300

/* Append pairs, and record which numbers they got. */
static void
append_pairs(struct state_fixture *r, int who)
{
	char text[2][32], num[STR_NUM_MAX];
	struct str json[2];
	int64_t first;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		snprintf(text[0], sizeof(text[0]), "%d-%d-a", who, i);
		snprintf(text[1], sizeof(text[1]), "%d-%d-b", who, i);
		json[0] = str_of(text[0]);
		json[1] = str_of(text[1]);
		OK(session_append(r->s, &key, json, 2, &first));
		DO(r, STR("HSET"), STR("numbers"), str_num(first, num),
		    json[0]);
	}
}

TEST(concurrent_appends_are_atomic)
{
	struct tk_server redis;
	struct session_list l;
	struct state_reply *r;
	char num[STR_NUM_MAX];
	struct state_fixture b;
	size_t i;

	state_fixture_start_server(&redis);
	state_fixture_run_peers(redis.url, PEERS, append_pairs);
	state_fixture_join(&b, &redis);
	arena_free(b.a);
	b.a = arena_new(4UL << 20);
	OK(session_messages(b.s, &key,
	    (struct session_page){ .after = -1, .max = SESSION_MESSAGES_MAX },
	    b.a, &l));
	ck_assert_uint_eq(l.n, SESSION_MESSAGES_MAX);
	ck_assert_int_eq(l.message[l.n - 1].number, 2 * PEERS * ROUNDS);
	for (i = 0; i < l.n; i += 2) {
		OK(state_cmd(b.s,
		    STATE_ARGS(STR("HGET"), STR("numbers"),
			str_num(l.message[i].number, num)),
		    &r));
		ck_assert(str_eq(state_reply_str(r), l.message[i].json));
		state_reply_free(r);
		ck_assert_mem_eq(l.message[i].json.p, l.message[i + 1].json.p,
		    l.message[i].json.n - 1);
		ck_assert(str_ends(l.message[i + 1].json, STR("-b")));
	}
	state_fixture_stop(&b);
}
