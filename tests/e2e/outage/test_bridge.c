/*
 * Bridges are killed: the other one takes over with every snapshot, and nothing
 * requested meanwhile is executed late.
 */
#include <mosquitto.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "testkit/stack/client.h"
#include "testkit/stack/peer.h"

#define BODIES 5000

/* The reports of all devices, published without waiting for each one. */
struct fleet {
	struct mosquitto *m;
	atomic_size_t acknowledged;
	size_t sent;
};

static void
on_publish(struct mosquitto *m, void *arg, int mid)
{
	struct fleet *c = arg;

	(void)m;
	(void)mid;
	atomic_fetch_add(&c->acknowledged, 1);
}

static void
fleet_begin(struct fleet *c, struct stack *st)
{
	*c = (struct fleet){ 0 };
	(void)mosquitto_lib_init();
	c->m = mosquitto_new(NULL, true, c);
	mosquitto_publish_callback_set(c->m, on_publish);
	ck_assert_int_eq(mosquitto_connect(c->m, "127.0.0.1",
			     st->server[STACK_MQTT].port, 60),
	    MOSQ_ERR_SUCCESS);
	ck_assert_int_eq(mosquitto_loop_start(c->m), MOSQ_ERR_SUCCESS);
}

static void
fleet_end(struct fleet *c)
{
	(void)mosquitto_disconnect(c->m);
	(void)mosquitto_loop_stop(c->m, false);
	mosquitto_destroy(c->m);
}

static void
report(struct fleet *c, int i, const char *leaf, const char *payload)
{
	char topic[128];

	snprintf(topic, sizeof(topic), "soul/terminal/crowd-%d/%s", i, leaf);
	ck_assert_int_eq(mosquitto_publish(c->m, NULL, topic,
			     (int)strlen(payload), payload, 1, true),
	    MOSQ_ERR_SUCCESS);
	c->sent++;
}

static bool
is_acknowledged(void *arg)
{
	struct fleet *c = arg;

	return atomic_load(&c->acknowledged) == c->sent;
}

/* Every device announces itself, retained, with that version. */
static void
fleet_announces(struct fleet *c, int version)
{
	char text[512];
	int i;

	for (i = 0; i < BODIES; i++) {
		report(c, i, "online", "online");
		snprintf(text, sizeof(text),
		    "{\"terminal_id\":\"crowd-%d\",\"skill_version\":%d,"
		    "\"skills\":[{\"name\":\"skill_%d\"}]}",
		    i, version, i);
		report(c, i, "skills", text);
		snprintf(text, sizeof(text),
		    "{\"terminal_id\":\"crowd-%d\",\"catalog_version\":%d,"
		    "\"intent_catalog\":[{\"id\":\"intent_%d\",\"match\":{"
		    "\"keywords_any\":[\"x\"]}}]}",
		    i, version, i);
		report(c, i, "intent_catalog", text);
	}
	ck_assert(tk_until(is_acknowledged, c, 60000));
}

/* Progress over the records; each is polled until it is right. */
struct polling {
	struct stack *st;
	int version, next;
};

static bool
are_known(void *arg)
{
	struct polling *l = arg;
	char id[64], name[64];
	json_t *j;

	for (; l->next < BODIES; l->next++) {
		snprintf(id, sizeof(id), "crowd-%d", l->next);
		j = client_terminal(l->st, STACK_USER, id);
		if (json_integer_value(json_object_get(j, "skill_version")) !=
			l->version ||
		    json_integer_value(json_object_get(j, "catalog_version")) !=
			l->version) {
			json_decref(j);
			return false;
		}
		snprintf(name, sizeof(name), "skill_%d", l->next);
		ck_assert(json_array_size(tk_at(j, "skills")) == 0 ||
		    tk_list_has(j, "skills", name));
		json_decref(j);
	}
	return true;
}

static void
assert_known(struct stack *st, int version)
{
	struct polling l = { st, version, 0 };

	ck_assert_msg(tk_until(are_known, &l, 60000),
	    "crowd-%d is not at version %d", l.next, version);
}

TEST_T(five_thousand_retained_bodies_and_a_fail_over, 240)
{
	static const struct stack_opts o = { .no_capture = true };
	struct stack_proc second = { 0 };
	struct mono began;
	struct stack st;
	struct fleet c;

	stack_start(&st, &o);
	/* The reports are retained before a bridge reads them. */
	stack_kill(&st, STACK_MQTT_BRIDGE);
	fleet_begin(&c, &st);
	fleet_announces(&c, 1);
	began = clock_mono();
	stack_restart(&st, STACK_MQTT_BRIDGE);
	assert_known(&st, 1);
	printf("# %d bodies known %lld ms after the start of the bridge\n",
	    BODIES, (long long)mono_diff_ms(clock_mono(), began));
	/* The leader is killed while every device publishes a new report. */
	stack_spawn(&st, STACK_MQTT_BRIDGE, &second, "second-bridge");
	stack_wait_ready(&second);
	report(&c, 0, "online", "online");
	stack_kill(&st, STACK_MQTT_BRIDGE);
	began = clock_mono();
	fleet_announces(&c, 2);
	assert_known(&st, 2);
	printf("# %d new snapshots known %lld ms after the kill\n", BODIES,
	    (long long)mono_diff_ms(clock_mono(), began));
	fleet_end(&c);
	tk_signal(&second.proc, SIGTERM);
	ck_assert_int_eq(tk_wait(&second.proc, STACK_MS), 0);
	ck_assert_ptr_null(stack_end(&st));
}

TEST_T(nothing_stale_moves_a_body, 60)
{
	struct client o = { NULL, STACK_USER, "s1", STACK_BODY };
	struct stack st;
	struct peer *w;
	json_t *r, *m;

	stack_start(&st, &(const struct stack_opts){ 0 });
	o.st = &st;
	client_select_soul(&st, STACK_USER, STACK_BODY,
	    client_create_soul(&st, STACK_USER, "小元", "ENFP"));
	w = peer_new(&st, NULL);
	peer_subscribe(w, "soul/terminal/" STACK_BODY "/intent_action");
	json_decref(client_chat(&o, "把灯变成绿色"));
	json_decref(peer_next(w, "", STACK_MS));
	/* No bridge delivers commands. */
	stack_kill(&st, STACK_MQTT_BRIDGE);
	r = client_chat(&o, "关灯");
	ck_assert(tk_json_equals(tk_at(r, "executed_skills"), "[]"));
	ck_assert_str_eq(tk_text(r, "failed_skills.0.skill"), "control_light");
	json_decref(r);
	/* The bridge is back; rejected commands stay unexecuted. */
	stack_restart(&st, STACK_MQTT_BRIDGE);
	client_wait_terminal(&st, STACK_USER, STACK_BODY, CLIENT_SEES_INTENTS);
	r = client_chat(&o, "把灯变成红色");
	ck_assert_msg(
	    tk_json_equals(tk_at(r, "executed_skills"), "[\"control_light\"]"),
	    "%s", tk_text(r, "reply"));
	json_decref(r);
	m = peer_next(w, "", STACK_MS);
	ck_assert_str_eq(
	    tk_text(m, "payload.intents.0.normalized.color"), "red");
	json_decref(m);
	ck_assert_uint_eq(peer_count(w, "/intent_action"), 0);
	client_wait_sim_state(&st, STACK_BODY, "color", "red");
	peer_free(w);
	ck_assert_ptr_null(stack_end(&st));
}
