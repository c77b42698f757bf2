/*
 * Results that come after their turn: told in the next one, once.
 */
#include "talk.h"

#define NOD "[[\"nod\",\"{\\\"times\\\":1}\"]]"

#define DONE   "之前没有得到确认的点头，后来已经完成。"
#define FAILED "之前没有得到确认的点头没有成功：stuck。"

/* A turn whose nod nobody confirms; its request id. */
static void
unconfirmed(struct bed *b, char id[64])
{
	struct talk t;

	peers_set(&b->peers, body, BODY_MUTE);
	model_will_say(&b->model, NULL, NOD);
	model_will_say(&b->model, "没有确认。", NULL);
	talk_start(&t, b, "点个头");
	talk_want(&t, .reply = "没有确认。\n点头已经发出，但没有得到确认。",
	    .executed = "", .failed = "nod", .errors = "not confirmed");
	snprintf(
	    id, 64, "%s", text_at(peers_last(&b->peers, invoke), "request_id"));
	talk_close(&t);
}

/* The body answers, and the bridge keeps it. */
static void
answers(struct bed *b, const char *id, const char *more)
{
	char json[256];
	bool first;

	snprintf(json, sizeof(json), "{\"request_id\":\"%s\",%s}", id, more);
	ck_assert_int_eq(terminal_fixture_put_result(b->state, STR("t1"),
			     str_of(id), str_of(json), &first),
	    RC_OK);
	ck_assert(first);
}

/* A turn of talk only, and all of its reply. */
static void
replies(struct bed *b, const char *reply)
{
	struct talk t;

	model_will_say(&b->model, "你好。", NULL);
	talk_start(&t, b, "你好");
	talk_want(&t, .reply = reply, .executed = "", .failed = "");
	talk_close(&t);
}

TEST_T(told_in_the_next_turn_once, 60)
{
	struct bed b;
	char id[64];

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	unconfirmed(&b, id);
	/* Nothing came yet. */
	replies(&b, "你好。");
	answers(&b, id, "\"ok\":true");
	replies(&b, "你好。\n" DONE);
	/* The model was told too, and told not to repeat it. */
	json_t *q = model_request(&b.model, 3);
	ck_assert_ptr_nonnull(strstr(model_text(q, 0), "【后来】" DONE));
	replies(&b, "你好。");
	/* It is history now. */
	q = model_request(&b.model, 4);
	ck_assert_ptr_null(strstr(model_text(q, 0), "【后来】"));
	ck_assert_str_eq(model_text(q, -3), "[late_result] " DONE);
	bed_stop(&b);
}

/* What is told is that of the body; each has its own end. */
TEST_T(failures_and_several, 60)
{
	char first[64], second[64];
	struct bed b;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	unconfirmed(&b, first);
	unconfirmed(&b, second);
	answers(&b, second, "\"ok\":false,\"error\":\"stuck\"");
	replies(&b, "你好。\n" FAILED);
	answers(&b, first, "\"ok\":true");
	replies(&b, "你好。\n" DONE);
	replies(&b, "你好。");
	bed_stop(&b);
}

/* Whoever runs the next turn tells it; a turn that fails has not. */
TEST_T(whoever_dies, 60)
{
	struct talk t;
	struct bed b;
	char id[64];

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	unconfirmed(&b, id);
	answers(&b, id, "\"ok\":true");
	model_will_fail(&b.model, 400);
	talk_start(&t, &b, "你好");
	talk_want_fault(&t, 502, "llm_unavailable");
	talk_close(&t);
	bed_kill(&b, 0);
	bed_spawn(&b, 0);
	replies(&b, "你好。\n" DONE);
	bed_kill(&b, 0);
	bed_spawn(&b, 0);
	replies(&b, "你好。");
	bed_stop(&b);
}
