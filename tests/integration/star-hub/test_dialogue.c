/*
 * What is said to a soul in an environment: turns of guests, replies,
 * observations; the test is the orchestrator.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "state/soul.h"
#include "testkit/star_body.h"

#define DIALOGUE(text)                                              \
	"{\"type\":\"event\",\"id\":\"d1\",\"event\":\"dialogue\"," \
	"\"data\":{\"text\":\"" text "\"}}"
#define RESPONSE                                                           \
	"\"response\":{\"session_id\":\"s\",\"terminal_id\":\"t\","        \
	"\"soul_id\":\"s1\",\"reply\":\"好的。\",\"executed_skills\":[" \
	"\"move\"],\"failed_skills\":[{\"skill\":\"jump\",\"error\":"      \
	"\"a wall\"}]}"

/* The next request for a turn; reply is where it is replied to. */
static json_t *
turn_next(natsSubscription *turns, char reply[256])
{
	natsMsg *m = NULL;
	json_t *j;

	ck_assert_int_eq(
	    natsSubscription_NextMsg(&m, turns, STAR_BODY_MS), NATS_OK);
	snprintf(reply, 256, "%s", natsMsg_GetReply(m));
	j = tk_nats_json(m);
	natsMsg_Destroy(m);
	return j;
}

static void
turn_reply(struct star_body *b, json_t *turn, const char *reply,
    const char *state, const char *more)
{
	char text[2048];

	snprintf(text, sizeof(text),
	    "{\"turn_id\":\"%s\",\"state\":\"%s\"%s%s}",
	    tk_text(turn, "turn_id"), state, more[0] != '\0' ? "," : "", more);
	tk_nats_send(b->nc, reply, text);
}

TEST(a_human_talks_to_a_soul_as_a_guest)
{
	struct star_body b;
	natsSubscription *turns;
	char reply[256];
	struct soul soul;
	json_t *j;

	star_body_start(&b);
	star_body_live(&b);
	star_body_bob(&b);
	turns = tk_nats_listen(b.nc, "soul.rpc.turn.start");
	star_send(&b.bob, "human:bob", "agent:agent_001", DIALOGUE("向北走"));
	j = turn_next(turns, reply);
	ck_assert_str_eq(tk_text(j, "user_id"), "star:human:bob");
	ck_assert_str_eq(tk_text(j, "owner_id"), "ann");
	ck_assert_str_eq(tk_text(j, "chat.soul_id"), "s1");
	ck_assert_str_eq(tk_text(j, "chat.terminal_id"), b.terminal);
	ck_assert_str_eq(tk_text(j, "chat.session_id"), b.terminal);
	ck_assert_uint_eq(json_array_size(tk_at(j, "chat.inputs")), 1);
	ck_assert_str_eq(tk_text(j, "chat.inputs.0.type"), "keyboard_text");
	ck_assert_str_eq(tk_text(j, "chat.inputs.0.text"), "向北走");
	/* The guest knows the soul. */
	ck_assert_int_eq(soul_read(b.db.s, STR("star:human:bob"), STR("s1"),
			     b.db.arena, &soul),
	    RC_OK);
	turn_reply(&b, j, reply, "accepted", "");
	turn_reply(&b, j, reply, "running", "");
	turn_reply(&b, j, reply, "completed", RESPONSE);
	star_wait_for(&b.bob,
	    "\"event\":\"dialogue\",\"data\":{\"text\":\"好的。\","
	    "\"in_reply_to\":\"d1\"");
	ck_assert_ptr_nonnull(strstr(b.bob.msg.p,
	    "\"executed_skills\":[\"move\"],\"failed_skills\":[{\"skill\":"
	    "\"jump\",\"error\":\"a wall\"}]"));
	ck_assert_ptr_nonnull(strstr(b.bob.msg.p,
	    "\"sender\":{\"id\":\"agent_001\",\"type\":\"agent\"}"));
	json_decref(j);
	natsSubscription_Destroy(turns);
	star_body_stop(&b);
}

TEST(a_turn_is_part_of_the_trace_of_its_message)
{
	static const char parent[] =
	    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
	struct star_body b;
	natsSubscription *turns;
	natsMsg *m = NULL;
	const char *value = NULL;
	char text[1024];

	star_body_start(&b);
	star_body_live(&b);
	star_body_bob(&b);
	turns = tk_nats_listen(b.nc, "soul.rpc.turn.start");
	snprintf(text, sizeof(text),
	    "{\"type\":\"message\",\"traceparent\":\"%s\",\"sender\":{\"id\":"
	    "\"bob\",\"type\":\"human\"},\"recipient\":{\"id\":\"agent_001\""
	    ",\"type\":\"agent\"},\"payload\":%s}",
	    parent, DIALOGUE("hello"));
	tk_ws_send(&b.bob, text);
	ck_assert_int_eq(
	    natsSubscription_NextMsg(&m, turns, STAR_BODY_MS), NATS_OK);
	ck_assert_int_eq(natsMsgHeader_Get(m, "traceparent", &value), NATS_OK);
	ck_assert_str_eq(value, parent);
	natsMsg_Destroy(m);
	natsSubscription_Destroy(turns);
	star_body_stop(&b);
}

TEST(a_sender_has_one_turn_at_a_time)
{
	struct star_body b;
	natsSubscription *turns;
	char reply[256], text[256];
	natsMsg *m = NULL;
	json_t *j;
	int i;

	star_body_start(&b);
	star_body_live(&b);
	star_body_bob(&b);
	turns = tk_nats_listen(b.nc, "soul.rpc.turn.start");
	for (i = 0; i < 6; i++) {
		snprintf(text, sizeof(text), DIALOGUE("%d"), i);
		star_send(&b.bob, "human:bob", "agent:agent_001", text);
	}
	/* One runs, four wait. */
	star_wait_for(&b.bob, "\"code\":\"overloaded\"");
	for (i = 0; i < 5; i++) {
		j = turn_next(turns, reply);
		snprintf(text, sizeof(text), "%d", i);
		ck_assert_str_eq(tk_text(j, "chat.inputs.0.text"), text);
		ck_assert_int_eq(
		    natsSubscription_NextMsg(&m, turns, 20), NATS_TIMEOUT);
		turn_reply(&b, j, reply, "completed", RESPONSE);
		json_decref(j);
		star_wait_for(&b.bob, "好的。");
	}
	natsSubscription_Destroy(turns);
	star_body_stop(&b);
}

TEST(errors_are_replied_in_words)
{
	static const struct {
		const char *state, *more, *text;
	} rows[] = {
		{ "failed",
		    "\"status\":503,\"error\":{\"error\":\"the language model "
		    "is unavailable\",\"code\":\"llm_unavailable\"}",
		    "\"text\":\"the language model is unavailable\"" },
		{ "canceled", "", "the turn was canceled" },
		{ "bogus", "", "the turn was lost" },
	};
	struct star_body b;
	natsSubscription *turns;
	char reply[256];
	json_t *j;
	size_t i;

	star_body_start(&b);
	star_body_live(&b);
	star_body_bob(&b);
	star_send(&b.bob, "human:bob", "agent:agent_001", DIALOGUE("a"));
	star_wait_for(&b.bob, "no llm-orchestrator is running");
	star_send(&b.bob, "human:bob", "agent:agent_001",
	    "{\"type\":\"action\",\"action\":\"x\",\"id\":\"1\"}");
	star_wait_for(&b.bob, "there is no text");
	turns = tk_nats_listen(b.nc, "soul.rpc.turn.start");
	for (i = 0; i < NELEM(rows); i++) {
		star_send(
		    &b.bob, "human:bob", "agent:agent_001", DIALOGUE("a"));
		j = turn_next(turns, reply);
		turn_reply(&b, j, reply, rows[i].state, rows[i].more);
		json_decref(j);
		star_wait_for(&b.bob, rows[i].text);
	}
	/* Its orchestrator is silent. */
	star_send(&b.bob, "human:bob", "agent:agent_001", DIALOGUE("a"));
	json_decref(turn_next(turns, reply));
	star_wait_for(&b.bob, "may have been done, or not");
	natsSubscription_Destroy(turns);
	star_body_stop(&b);
}

TEST(events_of_the_environment_are_observations)
{
	struct star_body b;
	natsSubscription *turns;
	char reply[256], payload[512];
	json_t *j;
	int i;

	star_body_start(&b);
	star_body_live(&b);
	star_body_bob(&b);
	turns = tk_nats_listen(b.nc, "soul.rpc.turn.start");
	for (i = 0; i < 3; i++) {
		snprintf(payload, sizeof(payload),
		    "{\"type\":\"event\",\"id\":\"e\",\"event\":\"rain\","
		    "\"data\":{\"mm\":%d}}",
		    i);
		star_send(&b.env, "environment:demo_world", "agent:*", payload);
	}
	star_idle(&b.env, "environment:demo_world");
	star_send(&b.bob, "human:bob", "agent:agent_001", DIALOGUE("天气？"));
	j = turn_next(turns, reply);
	ck_assert_uint_eq(json_array_size(tk_at(j, "chat.inputs")), 2);
	ck_assert_str_eq(tk_text(j, "chat.inputs.0.type"), "event_note");
	ck_assert_str_eq(tk_text(j, "chat.inputs.0.text"),
	    "rain {\"mm\":2} (2 more omitted)");
	ck_assert_str_eq(tk_text(j, "chat.inputs.1.text"), "天气？");
	turn_reply(&b, j, reply, "completed", RESPONSE);
	json_decref(j);
	star_wait_for(&b.bob, "好的。");
	/* Each is noticed in one turn of a sender. */
	star_send(&b.bob, "human:bob", "agent:agent_001", DIALOGUE("再见"));
	j = turn_next(turns, reply);
	ck_assert_uint_eq(json_array_size(tk_at(j, "chat.inputs")), 1);
	json_decref(j);
	natsSubscription_Destroy(turns);
	star_body_stop(&b);
}

TEST(an_event_that_wants_attention_starts_a_turn)
{
	struct star_body b;
	natsSubscription *turns;
	char reply[256];
	natsMsg *m = NULL;
	json_t *j;
	int i;

	star_body_start(&b);
	star_body_live(&b);
	turns = tk_nats_listen(b.nc, "soul.rpc.turn.start");
	for (i = 0; i < 8; i++) {
		star_send(&b.env, "environment:demo_world", "agent:agent_001",
		    "{\"type\":\"event\",\"id\":\"e1\",\"event\":\"fire\","
		    "\"data\":{\"attention\":true,\"text\":\"着火了\"}}");
		/* Six in a minute. */
		if (i >= 6)
			continue;
		j = turn_next(turns, reply);
		ck_assert_str_eq(
		    tk_text(j, "user_id"), "star:environment:demo_world");
		ck_assert_str_eq(
		    tk_text(j, "chat.inputs.0.text"), "[fire] 着火了");
		turn_reply(&b, j, reply, "completed", RESPONSE);
		json_decref(j);
		star_wait_for(&b.env, "\"event\":\"dialogue\"");
	}
	ck_assert_int_eq(
	    natsSubscription_NextMsg(&m, turns, 200), NATS_TIMEOUT);
	natsSubscription_Destroy(turns);
	star_body_stop(&b);
}

TEST(replies_of_agents_start_no_turn)
{
	struct star_body b;
	natsSubscription *turns;
	struct tk_ws a;
	char reply[256];
	json_t *j;

	star_body_start(&b);
	star_body_live(&b);
	turns = tk_nats_listen(b.nc, "soul.rpc.turn.start");
	star_open(&b.f, &a, "/env/demo_world/agent/agent_002");
	star_send(&a, "agent:agent_002", "agent:agent_001",
	    "{\"type\":\"event\",\"event\":\"dialogue\",\"data\":{\"text\":"
	    "\"r\",\"in_reply_to\":\"x\"}}");
	star_send(&a, "agent:agent_002", "agent:agent_001",
	    "{\"type\":\"event\",\"event\":\"waved\",\"data\":{\"text\":"
	    "\"w\"}}");
	star_send(&a, "agent:agent_002", "agent:agent_001", DIALOGUE("hi"));
	j = turn_next(turns, reply);
	ck_assert_str_eq(
	    tk_text(j, "user_id"), "star:agent:demo_world#agent_002");
	ck_assert_str_eq(tk_text(j, "chat.inputs.0.text"), "hi");
	turn_reply(&b, j, reply, "completed", RESPONSE);
	json_decref(j);
	star_wait_for(&a, "\"in_reply_to\":\"d1\"");
	tk_ws_close(&a);
	natsSubscription_Destroy(turns);
	star_body_stop(&b);
}

static void
second_hub(struct star_body *b)
{
	struct tk_env e = { 0 };

	tk_env_list(&e, STAR_QUIET);
	tk_env_put(&e, "NATS_URL=%s", b->f.nats.url);
	tk_env_put(&e, "REDIS_URL=%s", b->f.redis.url);
	tk_service_start(&b->other, "star-hub", "other-hub", &e);
}

/* bob is at the other hub, which may not know of the environment yet. */
static void
bob_at_other(struct star_body *b)
{
	struct mono from = clock_mono();
	const char *m = NULL;

	ck_assert_int_eq(
	    tk_ws_open(&b->bob, b->other.http, "/human/bob", NULL), 101);
	do {
		ck_assert_int_lt(
		    mono_diff_ms(clock_mono(), from), STAR_BODY_MS);
		star_send(&b->bob, "human:bob", "hub:hub",
		    "{\"type\":\"stream\",\"id\":\"j\",\"stream\":"
		    "\"join_environment\",\"data\":{\"env_id\":"
		    "\"demo_world\"}}");
		do
			m = tk_ws_next(&b->bob, TK_WS_MS);
		while (m != NULL && strstr(m, "\"heartbeat\"") != NULL);
		ck_assert_ptr_nonnull(m);
	} while (strstr(m, "\"joined\"") == NULL);
}

TEST(a_human_at_another_hub_talks_to_a_soul)
{
	struct star_body b;
	natsSubscription *turns;
	char reply[256];
	json_t *j;

	star_body_start(&b);
	star_body_live(&b);
	second_hub(&b);
	bob_at_other(&b);
	turns = tk_nats_listen(b.nc, "soul.rpc.turn.start");
	star_send(&b.bob, "human:bob", "agent:agent_001", DIALOGUE("hi"));
	j = turn_next(turns, reply);
	ck_assert_str_eq(tk_text(j, "user_id"), "star:human:bob");
	turn_reply(&b, j, reply, "completed", RESPONSE);
	json_decref(j);
	star_wait_for(&b.bob, "\"in_reply_to\":\"d1\"");
	natsSubscription_Destroy(turns);
	star_body_stop(&b);
}

/* The hub that had it lives on. */
TEST(a_soul_follows_its_environment_to_another_hub)
{
	struct star_body b;
	natsSubscription *turns;
	char reply[256];
	struct mono from;
	natsMsg *m = NULL;
	json_t *j;

	star_body_start(&b);
	star_body_live(&b);
	second_hub(&b);
	ck_assert_int_eq(
	    tk_ws_open(&b.bob, b.other.http, "/env/demo_world", NULL), 101);
	tk_ws_close(&b.env);
	b.env = b.bob;
	b.bob = (struct tk_ws){ .fd = -1 };
	star_body_report(&b.env, "skills", STAR_SKILLS);
	bob_at_other(&b);
	turns = tk_nats_listen(b.nc, "soul.rpc.turn.start");
	/* Until the soul has moved, it may be nowhere. */
	from = clock_mono();
	do {
		natsMsg_Destroy(m);
		m = NULL;
		ck_assert_int_lt(mono_diff_ms(clock_mono(), from), 10000);
		star_send(
		    &b.bob, "human:bob", "agent:agent_001", DIALOGUE("hi"));
	} while (natsSubscription_NextMsg(&m, turns, 200) != NATS_OK ||
	    tk_service_metric(&b.other, "soul_star_residents") != 1);
	snprintf(reply, sizeof(reply), "%s", natsMsg_GetReply(m));
	j = tk_nats_json(m);
	natsMsg_Destroy(m);
	turn_reply(&b, j, reply, "completed", RESPONSE);
	json_decref(j);
	star_wait_for(&b.bob, "好的。");
	star_body_wait_present(&b, true);
	ck_assert_int_eq(tk_service_metric(&b.f.hub, "soul_star_residents"), 0);
	natsSubscription_Destroy(turns);
	star_body_stop(&b);
}
