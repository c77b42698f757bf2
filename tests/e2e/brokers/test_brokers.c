/*
 * Two brokers, each with its bridge, for one suite: a body that moves from one
 * to the other keeps its conversation.
 *
 * The capture does not subscribe to MQTT here: it would count as a subscriber.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testkit/http.h"
#include "testkit/stack/client.h"
#include "testkit/stack/conversation.h"
#include "testkit/stack/peer.h"

/* By the language model, and by an intent. */
#define NOD   "动一动你的脑袋吧"
#define LIGHT "开灯"
/* The body moves meanwhile. */
#define MODEL_MS "6000"

static const struct stack_opts first_opts = { .no_mqtt_capture = true,
	.without = { [STACK_BODY_SIM] = true } };
static const struct stack_opts second_opts = { .no_mqtt_capture = true,
	.env = { [STACK_MQTT_BRIDGE] = { "BROKER_ID=second" } } };

/* The second has the servers and services of the first, but for its broker. */
struct brokers {
	struct stack first, second;
	struct stack_proc bridge;
};

static bool
brokers_are_read(void *arg)
{
	return tk_log_has(arg, "ev=bridge.caught_up");
}

static void
brokers_start(struct brokers *x)
{
	*x = (struct brokers){ .bridge = { .admin = 0 } };
	stack_start(&x->first, &first_opts);
	x->second = x->first;
	x->second.opts = &second_opts;
	tk_server_start(&x->second.server[STACK_MQTT], TK_MOSQUITTO);
	stack_spawn(&x->second, STACK_MQTT_BRIDGE, &x->bridge, "second-bridge");
	stack_wait_ready(&x->bridge);
	ck_assert(tk_until(brokers_are_read, &x->bridge.proc, STACK_MS));
	ck_assert(tk_until(brokers_are_read,
	    &x->first.service[STACK_MQTT_BRIDGE].proc, STACK_MS));
}

static void
brokers_end(struct brokers *x)
{
	stack_check(&x->first);
	tk_signal(&x->bridge.proc, SIGTERM);
	ck_assert_int_eq(tk_wait(&x->bridge.proc, STACK_MS), 0);
	tk_server_stop(&x->second.server[STACK_MQTT], SIGTERM);
	ck_assert_ptr_null(stack_end(&x->first));
}

/* The connection to one broker breaks; it connects to the other. */
static void
brokers_move(struct terminal *b, struct stack *to)
{
	peer_drop(b->peer);
	client_wait_terminal(to, b->user, b->terminal, CLIENT_SEES_OFFLINE);
	terminal_connect(b, to, b->terminal, TERMINAL_0222);
}

/* How many of the commands that b has received have that in their topic. */
static size_t
brokers_count(struct terminal *b, const char *leaf)
{
	size_t n = 0;
	json_t *m;

	(void)peer_count(b->peer, "");
	while ((m = peer_next(b->peer, "", 0)) != NULL) {
		n += strstr(tk_text(m, "topic"), leaf) != NULL;
		json_decref(m);
	}
	return n;
}

static bool
brokers_has_metric(const struct stack_proc *p, const char *line)
{
	struct tk_response a = { 0 };
	bool has;

	ck_assert_int_eq(
	    tk_http_request(p->admin, &a, "GET", "/metrics", NULL), 200);
	has = str_find(buf_str(&a.body), str_of(line)) >= 0;
	tk_response_free(&a);
	return has;
}

static void
brokers_slow_model(struct stack *st)
{
	int status;

	json_decref(client_call(st->service[STACK_LLM_SIM].http, "POST",
	    "/sim/script",
	    json_loads("{\"faults\":[{\"kind\":\"slow\",\"delay_ms\":" MODEL_MS
		       "}]}",
		0, NULL),
	    &status));
	ck_assert_int_eq(status, 200);
}

static void
brokers_ck_executed(const struct client *o, const char *text, const char *list)
{
	json_t *r = client_chat(o, text);

	ck_assert_msg(tk_json_equals(tk_at(r, "executed_skills"), list), "%s",
	    tk_text(r, "reply"));
	json_decref(r);
}

/* Its turn has read where it was, and calls a skill where it is. */
TEST_T(a_body_moves_during_a_turn, 120)
{
	struct terminal b = { .manner = TERMINAL_OBEYS };
	struct conversation *turn;
	struct brokers x;
	struct client o;
	json_t *r;
	int status;

	brokers_start(&x);
	terminal_connect(&b, &x.first, "mover", TERMINAL_0222);
	o = (struct client){ &x.first, "u-mover", "s1", b.terminal };
	client_select_soul(&x.first, o.user, b.terminal,
	    client_create_soul(&x.first, o.user, "小元", "ENFP"));
	b.user = o.user;
	brokers_ck_executed(&o, LIGHT, "[\"control_light\"]");
	(void)brokers_count(&b, "");
	brokers_slow_model(&x.first);
	turn = conversation_begin(&o, NOD);
	json_decref(
	    peer_await(b.peer, "/emotion_update", "payload.session_id", "s1"));
	brokers_move(&b, &x.second);
	r = conversation_end(turn, &status);
	ck_assert_int_eq(status, 200);
	ck_assert_msg(tk_json_equals(
			  tk_at(r, "executed_skills"), "[\"set_head_motion\"]"),
	    "%s", tk_text(r, "reply"));
	json_decref(r);
	ck_assert_uint_eq(brokers_count(&b, "/invoke/"), 1);
	ck_assert(brokers_has_metric(&x.first.service[STACK_MQTT_BRIDGE],
	    "soul_bridge_commands_total{command=\"invoke\","
	    "state=\"forwarded\"} 1\n"));
	/* Later turns know where it is. */
	brokers_ck_executed(&o, LIGHT, "[\"control_light\"]");
	ck_assert_uint_eq(brokers_count(&b, "/intent_action"), 1);
	brokers_move(&b, &x.first);
	brokers_ck_executed(&o, LIGHT, "[\"control_light\"]");
	ck_assert_uint_eq(brokers_count(&b, "/intent_action"), 1);
	terminal_free(&b);
	brokers_end(&x);
}
