/*
 * Skills that the model has the body carry out, and what the body makes of it.
 */
#include "talk.h"

#define NOD "[[\"nod\",\"{\\\"times\\\":1}\"]]"

/* A turn in which the model calls nod, and the body is in some mood. */
static void
nod(struct bed *b, struct talk *t, enum body_mode mode)
{
	peers_set(&b->peers, filter, FALLBACK);
	peers_set(&b->peers, body, mode);
	talk_start(t, b, "表示同意");
}

TEST_T(the_body_does_it, 60)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	/* Text beside the call is the reply: one call of the model. */
	model_will_say(&b.model, "好，我点头了。", NOD);
	nod(&b, &t, BODY_OK);
	talk_want(
	    &t, .reply = "好，我点头了。", .executed = "nod", .failed = "");
	ck_assert_uint_eq(model_asked(&b.model), 1);
	json_t *v = peers_last(&b.peers, invoke);
	ck_assert_str_eq(text_at(v, "skill"), "nod");
	ck_assert_int_eq(json_integer_value(at(v, "arguments.times")), 1);
	ck_assert_int_gt(json_integer_value(at(v, "deadline_ms")),
	    (json_int_t)clock_wall().ms - BED_MS);
	talk_close(&t);

	/* Without text the model sees the result. */
	model_will_say(&b.model, NULL, NOD);
	model_will_say(&b.model, "点过了。", NULL);
	nod(&b, &t, BODY_OK);
	talk_want(&t, .reply = "点过了。", .executed = "nod", .failed = "");
	ck_assert_str_eq(model_text(model_request(&b.model, 2), -1),
	    "{\"ok\":true,\"output\":\"nod done\"}");
	talk_close(&t);

	/* The first result counts. */
	model_will_say(&b.model, "好。", NOD);
	nod(&b, &t, BODY_TWICE);
	talk_want(&t, .reply = "好。", .executed = "nod", .failed = "");
	talk_close(&t);
	bed_stop(&b);
}

TEST_T(the_body_fails, 60)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	model_will_say(&b.model, "已经点头了。", NOD);
	model_will_say(&b.model, "没点成。", NULL);
	nod(&b, &t, BODY_ERROR);
	talk_want(&t, .reply = "没点成。\n点头没有成功：stuck。",
	    .executed = "", .failed = "nod", .errors = "stuck");
	ck_assert_str_eq(model_text(model_request(&b.model, 1), -1),
	    "{\"ok\":false,\"error\":\"stuck\"}");
	talk_close(&t);
	bed_stop(&b);
}

/* Silence, an answer to something else, an answer that is none. */
TEST_T(the_body_does_not_answer, 90)
{
	static const enum body_mode modes[] = { BODY_MUTE, BODY_WRONG_ID,
		BODY_BAD };
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	for (size_t i = 0; i < NELEM(modes); i++) {
		model_will_say(&b.model, "点好了。", NOD);
		model_will_say(&b.model, "好像没点成。", NULL);
		nod(&b, &t, modes[i]);
		talk_want(&t,
		    .reply = "好像没点成。\n点头已经发出，但没有得到确认。",
		    .executed = "", .failed = "nod", .errors = "not confirmed");
		ck_assert_str_eq(
		    text_at(model_request(&b.model, 2 * i + 1), "tool_choice"),
		    "none");
		talk_close(&t);
	}
	/* Each was sent once. */
	ck_assert_uint_eq(peers_invokes(&b.peers), NELEM(modes));
	bed_stop(&b);
}

/* A result after the time is no confirmation, and does no harm. */
TEST_T(the_body_is_late, 60)
{
	struct bed b;
	struct talk t;
	char id[64], json[256];

	bed_start(&b, 1);
	model_will_say(&b.model, NULL, NOD);
	model_will_say_late(&b.model, "没有确认。", NULL, 500);
	nod(&b, &t, BODY_MUTE);
	while (model_asked(&b.model) < 2)
		talk_next(&t, 50);
	snprintf(id, sizeof(id), "%s",
	    text_at(peers_last(&b.peers, invoke), "request_id"));
	snprintf(json, sizeof(json), "{\"request_id\":\"%s\",\"ok\":true}", id);
	body_result(&b.peers, "t1", id, json);
	talk_want(
	    &t, .executed = "", .failed = "nod", .errors = "not confirmed");
	body_result(&b.peers, "t1", id, json);
	talk_close(&t);
	bed_stop(&b);
}

/* A result that got lost on its way is found where it is kept. */
TEST_T(a_lost_result_is_found, 60)
{
	struct bed b;
	struct talk t;
	char id[64], json[256];
	bool first;

	bed_start(&b, 1);
	model_will_say(&b.model, "点好了。", NOD);
	nod(&b, &t, BODY_MUTE);
	while (peers_invokes(&b.peers) < 1)
		talk_next(&t, 20);
	snprintf(id, sizeof(id), "%s",
	    text_at(peers_last(&b.peers, invoke), "request_id"));
	snprintf(json, sizeof(json), "{\"request_id\":\"%s\",\"ok\":true}", id);
	ck_assert_int_eq(terminal_fixture_put_result(b.state, STR("t1"),
			     str_of(id), str_of(json), &first),
	    RC_OK);
	talk_want(&t, .reply = "点好了。", .executed = "nod", .failed = "");
	talk_close(&t);
	bed_stop(&b);
}

TEST_T(the_body_is_not_there, 60)
{
	static const struct {
		const char *delivery, *error;
	} rows[] = {
		{ "offline", "offline" },
		{ "no_subscriber", "no subscriber" },
		{ "late", "late" },
	};
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	for (size_t i = 0; i < NELEM(rows); i++) {
		model_will_say(&b.model, "点好了。", NOD);
		model_will_say(&b.model, "没点成。", NULL);
		peers_set(&b.peers, delivery, rows[i].delivery);
		nod(&b, &t, BODY_OK);
		talk_want(&t, .executed = "", .failed = "nod",
		    .errors = rows[i].error);
		talk_close(&t);
	}
	bed_stop(&b);
}

/* Of one skill in order, different ones beside each other. */
TEST_T(several_calls, 60)
{
	struct bed b;
	struct talk t;
	char diary[512];

	bed_start(&b, 1);
	model_will_say(&b.model, "都好了。",
	    "[[\"nod\",\"{\\\"times\\\":1}\"],[\"nod\",\"{\\\"times\\\":2}\"],"
	    "[\"control_light\",\"{\\\"mode\\\":\\\"on\\\"}\"]]");
	nod(&b, &t, BODY_OK);
	talk_want(&t, .reply = "都好了。", .executed = "nod,control_light",
	    .failed = "");
	ck_assert_uint_eq(peers_invokes(&b.peers), 3);
	ck_assert_int_eq(json_integer_value(at(
			     peers_last(&b.peers, invoke), "arguments.times")),
	    2);
	talk_close(&t);

	/* The silent one does not hold up the other; the second nod waits. */
	peers_forget(&b.peers);
	peers_set(&b.peers, mute_skill, "nod");
	model_will_say(&b.model, "都好了。",
	    "[[\"nod\",\"{}\"],[\"nod\",\"{}\"],"
	    "[\"control_light\",\"{\\\"mode\\\":\\\"on\\\"}\"]]");
	model_will_say(&b.model, "灯开了。", NULL);
	nod(&b, &t, BODY_OK);
	talk_want(&t, .executed = "control_light", .failed = "nod,nod",
	    .errors = "not confirmed,not sent");
	ck_assert_str_eq(
	    strstr(peers_diary(&b.peers, diary, sizeof(diary)), "invoke"),
	    "invoke:nod invoke:control_light");
	talk_close(&t);
	bed_stop(&b);
}

/* Wrong arguments are put right where that is safe, else sent back once. */
TEST_T(arguments_are_checked, 60)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	model_will_say(
	    &b.model, "好。", "[[\"nod\",\"{\\\"times\\\":\\\"3\\\"}\"]]");
	nod(&b, &t, BODY_OK);
	talk_want(&t, .reply = "好。", .executed = "nod", .failed = "");
	ck_assert_int_eq(json_integer_value(at(
			     peers_last(&b.peers, invoke), "arguments.times")),
	    3);
	talk_close(&t);

	model_will_say(&b.model, NULL,
	    "[[\"control_light\",\"{\\\"mode\\\":\\\"blink\\\"}\"]]");
	model_will_say(&b.model, "灯开了。",
	    "[[\"control_light\",\"{\\\"mode\\\":\\\"on\\\"}\"]]");
	nod(&b, &t, BODY_OK);
	talk_want(
	    &t, .reply = "灯开了。", .executed = "control_light", .failed = "");
	ck_assert_str_eq(model_text(model_request(&b.model, 2), -1),
	    "{\"ok\":false,\"error\":\"invalid arguments: /mode: must be one "
	    "of on, off, set_color\"}");
	talk_close(&t);

	/* Twice wrong is enough; a call that was cut short is none. */
	peers_forget(&b.peers);
	model_will_say(&b.model, NULL, "[[\"control_light\",\"{}\"]]");
	model_will_say(&b.model, NULL, "[[\"control_light\",\"{\\\"mo\"]]");
	model_will_say(&b.model, "没弄好。", NULL);
	nod(&b, &t, BODY_OK);
	talk_want(&t, .executed = "", .failed = "control_light");
	ck_assert_uint_eq(peers_invokes(&b.peers), 0);
	talk_close(&t);
	bed_stop(&b);
}

/* A skill the body does not have, and rounds without end. */
TEST_T(unknown_skills_and_endless_rounds, 60)
{
	struct bed b;
	struct talk t;

	bed_start(&b, 1);
	model_will_say(&b.model, "飞起来了", "[[\"fly up!\",\"{}\"]]");
	model_will_say(&b.model, "我不会飞。", NULL);
	nod(&b, &t, BODY_OK);
	json_t *f =
	    json_array_get(at(talk_end(&t), "response.failed_skills"), 0);
	ck_assert_str_eq(text_at(f, "error"), "unknown skill");
	/* What the model sees again is a name that providers take. */
	json_t *call = json_array_get(
	    at(model_message(model_request(&b.model, 1), -2), "tool_calls"), 0);
	ck_assert_str_eq(text_at(call, "function.name"), text_at(f, "skill"));
	ck_assert_uint_eq(strspn(text_at(f, "skill"),
			      "abcdefghijklmnopqrstuvwxyz0123456789_"),
	    strlen(text_at(f, "skill")));
	talk_close(&t);

	for (int i = 0; i < 4; i++)
		model_will_say(&b.model, NULL, NOD);
	model_will_say(&b.model, "够了。", NOD);
	nod(&b, &t, BODY_OK);
	talk_want(&t, .reply = "够了。\n一次要做的事太多，有些没有做。",
	    .executed = "nod", .failed = "");
	ck_assert_uint_eq(peers_invokes(&b.peers), 4);
	talk_close(&t);
	bed_stop(&b);
}
