/*
 * From a fact in a message to a reply that uses it: across an idle period, a
 * restart of every process, and a correction by the user.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "testkit/stack/client.h"
#include "testkit/stack/peer.h"
#include "testkit/stack/subscriber.h"

#define USER "u-memory"

/* Set the model's summary of a conversation in which the user sends text. */
static void
model_script_reply(struct stack *st, const char *text, const char *answer)
{
	json_t *script_llm_error;
	char when[256];
	int status;

	/*
	 * The prompt of the summary has it in this form, and no other prompt
	 * does.
	 */
	snprintf(when, sizeof(when), "用户：%s", text);
	script_llm_error = json_pack(
	    "{ssssss}", "kind", "answer", "when", when, "text", answer);
	json_decref(
	    client_call(st->service[STACK_LLM_SIM].http, "POST", "/sim/script",
		json_pack("{s[o]}", "faults", script_llm_error), &status));
	ck_assert_int_eq(status, 200);
}

/* Send a message, and wait until a summary has produced n memories. */
static void
chat_about(struct client *o, const char *text, const char *summary, int n)
{
	struct subscriber *e =
	    subscriber_new(o->st, "soul.event.memory_stored.>", NULL);

	model_script_reply(o->st, text, summary);
	json_decref(client_chat(o, text));
	/* A job of an earlier session may be repeated after a restart. */
	while (n-- > 0)
		json_decref(
		    subscriber_await(e, "payload.session_id", o->session));
	subscriber_free(e);
}

static void
restart_everything(struct stack *st)
{
	enum stack_service i;
	enum stack_server k;

	for (k = 0; k < STACK_SERVERS; k++)
		tk_server_stop(&st->server[k], SIGKILL);
	for (i = 0; i < STACK_SERVICES; i++)
		stack_kill(st, i);
	for (k = 0; k < STACK_SERVERS; k++)
		tk_server_restart(&st->server[k]);
	for (i = 0; i < STACK_SERVICES; i++)
		stack_restart(st, i);
	for (i = 0; i < STACK_SERVICES; i++)
		stack_wait_ready(&st->service[i]);
	client_wait_terminal(st, USER, STACK_BODY, CLIENT_SEES_INTENTS);
}

struct queries {
	struct client owner;
	const char *text;
	json_t *answer;
};

/* The first request after an outage of the memory may go without it. */
static bool
recalls(void *arg)
{
	struct queries *a = arg;

	json_decref(a->answer);
	a->answer = client_chat(&a->owner, a->text);
	return tk_json_equals(
	    tk_at(a->answer, "executed_skills"), "[\"recall_memory\"]");
}

static void
next_status(struct peer *w, const char *session, const char *status)
{
	json_t *m = peer_next(w, "/status", STACK_MS);

	ck_assert_msg(m != NULL, "no status %s", status);
	ck_assert_str_eq(tk_text(m, "payload.status"), status);
	ck_assert_str_eq(tk_text(m, "payload.session_id"), session);
	json_decref(m);
}

/* Query in a new session; the reply contains one word and not the other. */
static void
query(struct stack *st, const char *session, const char *has, const char *lacks)
{
	struct queries a = { { st, USER, session, STACK_BODY },
		"你还记得我平时爱喝哪种茶吗", NULL };
	struct peer *w = peer_new(st, NULL);

	peer_subscribe(w, "soul/terminal/" STACK_BODY "/status");
	ck_assert(tk_until(recalls, &a, STACK_MS));
	ck_assert_msg(tk_text_has(a.answer, "reply", has), "%s",
	    tk_text(a.answer, "reply"));
	ck_assert_msg(!tk_text_has(a.answer, "reply", lacks), "%s",
	    tk_text(a.answer, "reply"));
	json_decref(a.answer);
	next_status(w, session, "mem0_searching");
	next_status(w, session, "mem0_search_done");
	ck_assert_uint_eq(peer_count(w, "/status"), 0);
	peer_free(w);
}

static struct stack st;

TEST_T(a_fact_survives_restarts_and_is_superseded, 120)
{
	static struct stack_opts o;
	struct client owner = { &st, USER, "fact", STACK_BODY };
	json_t *j;

	o.env[STACK_LLM_ORCHESTRATOR][0] = "USER_IDLE_TIMEOUT_SECONDS=1";
	o.env[STACK_MEMORY_WORKER][0] =
	    "IDLE_SUMMARY_SCAN_INTERVAL_SECONDS=0.2";
	stack_start(&st, &o);
	client_wait_terminal(&st, USER, STACK_BODY, CLIENT_SEES_INTENTS);
	client_select_soul(&st, USER, STACK_BODY,
	    client_create_soul(&st, USER, "小元", "ENFP"));
	chat_about(&owner, "我最喜欢的茶是乌龙茶，我养了一只猫",
	    "{\"summary\":\"用户喜欢乌龙茶，养猫。\",\"memories\":["
	    "{\"text\":\"用户最喜欢的茶是乌龙茶\",\"type\":\"fact\"},"
	    "{\"text\":\"用户养了一只猫\",\"type\":\"fact\"}],"
	    "\"profile\":{\"preferences\":{\"茶\":\"乌龙茶\"}}}",
	    2);
	restart_everything(&st);
	query(&st, "first query", "乌龙茶", "普洱茶");

	/* The user corrects the fact. */
	owner.session = "correction";
	chat_about(&owner, "我现在最喜欢的茶是普洱茶",
	    "{\"summary\":\"用户改喝普洱茶。\",\"memories\":["
	    "{\"text\":\"用户最喜欢的茶是普洱茶\",\"type\":\"fact\","
	    "\"replaces\":[1]}],"
	    "\"profile\":{\"preferences\":{\"茶\":\"普洱茶\"}}}",
	    1);
	query(&st, "second query", "普洱茶", "乌龙茶");
	j = client_ok(&st, "GET", "/v1/users/" USER "/profile", NULL);
	ck_assert_str_eq(tk_text(j, "user_profile.preferences.茶"), "普洱茶");
	json_decref(j);
	stack_check(&st);
	ck_assert_ptr_null(stack_end(&st));
}
