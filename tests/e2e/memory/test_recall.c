/*
 * Long-term memory: a session is summarized when it becomes idle, stored as a
 * memory, and found in another session and through another device; it is
 * deleted when the user asks for it.
 */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testkit/stack/client.h"
#include "testkit/stack/peer.h"
#include "testkit/stack/subscriber.h"

STACK_SHARED(
    { .env = {
	  [STACK_BODY_SIM] = { "BODY_COUNT=6" },
	  [STACK_LLM_ORCHESTRATOR] = { "USER_IDLE_TIMEOUT_SECONDS=1" },
	  [STACK_MEMORY_WORKER] = { "IDLE_SUMMARY_SCAN_INTERVAL_SECONDS=0.2" },
      } })

/* The next event of this user. */
static json_t *
next_of(struct subscriber *e, const char *user)
{
	json_t *ev;

	for (;;) {
		ev = subscriber_next(e, STACK_MS);
		ck_assert_msg(ev != NULL, "no event of %s", user);
		if (strcmp(tk_text(ev, "payload.user_id"), user) == 0)
			return ev;
		json_decref(ev);
	}
}

/* The event that reports the memory as stored. */
static json_t *
memory_of(struct client *o, const char *text)
{
	struct subscriber *e =
	    subscriber_new(&stack, "soul.event.memory_stored.>", NULL);
	json_t *ev;

	json_decref(client_chat(o, text));
	ev = next_of(e, o->user);
	subscriber_free(e);
	return ev;
}

static void
chat_and_wait_for_the_memory(struct client *o, const char *text)
{
	json_decref(memory_of(o, text));
}

/* The text of a memory as stored in Redis; false if there is none. */
static bool
stored_text(json_t *ev, char *dst, size_t size)
{
	redisContext *c =
	    redisConnect("127.0.0.1", stack.server[STACK_REDIS].port);
	bool is;

	ck_assert(c != NULL && c->err == 0);
	redisReply *r =
	    redisCommand(c, "EVAL %s 0 soul:memory:{b*}:%s:%s:items %s",
		"local k=redis.call('KEYS',ARGV[1])[1] "
		"return k and redis.call('HGET',k,ARGV[2])",
		tk_text(ev, "payload.user_id"), tk_text(ev, "payload.soul_id"),
		tk_text(ev, "payload.memory_id"));
	ck_assert_ptr_nonnull(r);
	ck_assert_int_ne(r->type, REDIS_REPLY_ERROR);
	is = r->type == REDIS_REPLY_STRING;
	if (is) {
		json_t *j = json_loadb(r->str, r->len, 0, NULL);
		snprintf(dst, size, "%s", tk_text(j, "text"));
		json_decref(j);
	}
	freeReplyObject(r);
	redisFree(c);
	return is;
}

TEST_T(a_recall_publishes_its_status, 60)
{
	struct client o = client_bound(&stack, "u-recall", "terminal-001");
	struct peer *w = peer_new(&stack, NULL);
	json_t *m, *r;

	chat_and_wait_for_the_memory(&o, "我最喜欢的水果是山竹");
	peer_subscribe(w, "soul/terminal/terminal-001/status");
	/* Another session of the same user. */
	o.session = "s2";
	r = client_chat(&o, "你还记得我喜欢的水果吗");
	ck_assert(
	    tk_json_equals(tk_at(r, "executed_skills"), "[\"recall_memory\"]"));
	ck_assert_msg(
	    tk_text_has(r, "reply", "山竹"), "%s", tk_text(r, "reply"));
	json_decref(r);
	m = peer_next(w, "/status", STACK_MS);
	ck_assert_str_eq(tk_text(m, "payload.status"), "mem0_searching");
	ck_assert_str_eq(tk_text(m, "payload.session_id"), "s2");
	json_decref(m);
	m = peer_next(w, "/status", STACK_MS);
	ck_assert_str_eq(tk_text(m, "payload.status"), "mem0_search_done");
	json_decref(m);
	peer_free(w);
}

TEST_T(a_memory_belongs_to_its_user, 60)
{
	struct client o = client_bound(&stack, "u-mine", "terminal-002");
	struct client other = client_bound(&stack, "u-other", "terminal-003");
	json_t *r;

	chat_and_wait_for_the_memory(&o, "我的密码是榴莲");
	r = client_chat(&other, "你还记得我的密码吗");
	ck_assert_msg(
	    !tk_text_has(r, "reply", "榴莲"), "%s", tk_text(r, "reply"));
	json_decref(r);
	r = client_chat(&o, "你还记得我的密码吗");
	ck_assert_msg(
	    tk_text_has(r, "reply", "榴莲"), "%s", tk_text(r, "reply"));
	json_decref(r);
}

TEST_T(new_input_restarts_the_idle_time, 60)
{
	struct client o = client_bound(&stack, "u-anew", "terminal-004");
	struct subscriber *e =
	    subscriber_new(&stack, "soul.event.session_idle.>", NULL);
	json_t *ev, *j;
	size_t n;
	int i;

	for (i = 0; i < 3; i++)
		json_decref(client_chat(&o, "今天天气真好"));
	ev = next_of(e, o.user);
	j = client_ok(
	    &stack, "GET", "/v1/sessions/s1/messages?user_id=u-anew", NULL);
	/* The idle time counts from the last message, not the first. */
	n = json_array_size(tk_at(j, "items"));
	ck_assert_uint_gt(n, 2);
	ck_assert_str_eq(
	    tk_text(json_array_get(tk_at(j, "items"), n - 2), "role"), "user");
	ck_assert_str_ge(tk_text(ev, "payload.last_active_at"),
	    tk_text(json_array_get(tk_at(j, "items"), n - 2), "created_at"));
	json_decref(ev);
	json_decref(j);
	/* Each idle period has its own summary. */
	json_decref(client_chat(&o, "再见"));
	json_decref(next_of(e, o.user));
	subscriber_free(e);
}

/*
 * The audit event has the turn and the number of deleted memories, but not
 * their text.
 */
static void
want_reply_names(
    struct subscriber *audit, struct subscriber *turns, const char *word)
{
	json_t *e =
	    subscriber_await(audit, "payload.action", "memories_deleted");
	json_t *turn = subscriber_await(turns, "payload.user_id", "u-forget");
	char *all = json_dumps(e, 0);

	ck_assert_str_eq(tk_text(e, "trace_id"), tk_text(turn, "trace_id"));
	ck_assert_str_eq(tk_text(e, "payload.user_id"), "u-forget");
	ck_assert_str_eq(tk_text(e, "payload.terminal_id"), "terminal-005");
	ck_assert_str_eq(tk_text(e, "payload.session_id"), "s2");
	ck_assert_int_eq(json_integer_value(tk_at(e, "payload.count")), 1);
	ck_assert_ptr_null(strstr(all, word));
	free(all);
	json_decref(turn);
	json_decref(e);
}

TEST_T(a_deleted_memory_is_named_in_the_reply, 60)
{
	struct client o = client_bound(&stack, "u-forget", "terminal-005");
	json_t *r, *ev = memory_of(&o, "我最喜欢的水果是山竹");
	struct subscriber *audit, *turns;
	char text[400], want[512];

	ck_assert(stored_text(ev, text, sizeof(text)));
	ck_assert_ptr_nonnull(strstr(text, "山竹"));
	audit = subscriber_new(&stack, "soul.event.audit.u-forget", NULL);
	turns = subscriber_new(&stack, "soul.event.turn_completed.>", NULL);
	o.session = "s2";
	r = client_chat(&o, "忘掉我喜欢的水果是山竹");
	ck_assert(
	    tk_json_equals(tk_at(r, "executed_skills"), "[\"forget_memory\"]"));
	snprintf(want, sizeof(want), "\"forgotten\":[\"%s\"]", text);
	ck_assert_msg(tk_text_has(r, "reply", want), "%s", tk_text(r, "reply"));
	json_decref(r);
	ck_assert(!stored_text(ev, text, sizeof(text)));
	want_reply_names(audit, turns, "山竹");
	subscriber_free(audit);
	subscriber_free(turns);
	json_decref(ev);
}

TEST_T(other_memories_are_not_deleted, 60)
{
	static const char *const others[] = { "忘掉我喜欢的水果是榴莲",
		"忘掉我妈妈喜欢的水果是山竹", "忘掉这个" };
	struct client o = client_bound(&stack, "u-keep", "terminal-006");
	json_t *r, *ev = memory_of(&o, "我最喜欢的水果是山竹");
	char text[400];
	size_t i;

	o.session = "s2";
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		r = client_chat(&o, others[i]);
		ck_assert(tk_json_equals(tk_at(r, "executed_skills"), "[]"));
		ck_assert(tk_json_equals(tk_at(r, "failed_skills"),
		    "[{\"skill\":\"forget_memory\",\"error\":"
		    "\"nothing fits\"}]"));
		ck_assert_msg(
		    tk_text_has(r, "reply", "没有找到和要忘掉的事相符的记忆。"),
		    "%s", tk_text(r, "reply"));
		json_decref(r);
		ck_assert(stored_text(ev, text, sizeof(text)));
	}
	json_decref(ev);
}
