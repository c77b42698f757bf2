#include "testkit/stack/chaos_body.h"

#include <mosquitto.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/arena.h"
#include "core/clock.h"
#include "core/mem.h"
#include "testkit/cases.h"
#include "testkit/json.h"
#include "testkit/stack/verdict.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

#define LOOP_MS   10
#define RETRY_MS  100
#define TOPIC_MAX 512

struct chaos_body {
	struct chaos *h;
	char terminal[64];
	struct mosquitto *m;
	pthread_t thread;
	atomic_bool stop, up;
	atomic_int port;
	struct arena *arena;
	char *skills, *intents;
};

int64_t
chaos_now(void)
{
	return mono_diff_ms(clock_mono(), (struct mono){ 0 });
}

/* ---- its thread ---- */

static void
body_topic(const struct chaos_body *b, const char *leaf, char topic[TOPIC_MAX])
{
	snprintf(topic, TOPIC_MAX, "soul/terminal/%s/%s", b->terminal, leaf);
}

static void
body_publish(
    struct chaos_body *b, const char *leaf, const char *text, bool report)
{
	char topic[TOPIC_MAX];

	body_topic(b, leaf, topic);
	(void)mosquitto_publish(
	    b->m, NULL, topic, (int)strlen(text), text, report, report);
}

static void
on_connect(struct mosquitto *m, void *arg, int rc)
{
	static const char *const leaves[] = { "invoke/+", "status",
		"emotion_update", "intent_action" };
	struct chaos_body *b = arg;
	char topic[TOPIC_MAX];
	size_t i;

	if (rc != 0)
		return;
	for (i = 0; i < NELEM(leaves); i++) {
		body_topic(b, leaves[i], topic);
		(void)mosquitto_subscribe(m, NULL, topic, 1);
	}
	body_publish(b, "online", "online", true);
	body_publish(b, "skills", b->skills, true);
	body_publish(b, "intent_catalog", b->intents, true);
	body_publish(b, "heartbeat", "1", false);
	atomic_store(&b->up, true);
}

static void
on_disconnect(struct mosquitto *m, void *arg, int rc)
{
	struct chaos_body *b = arg;

	(void)m;
	(void)rc;
	if (atomic_exchange(&b->up, false))
		chaos_disconnected(b->h, chaos_now(), b->terminal);
}

/* A command violates its schema, or belongs to another body. */
static void
body_verify(struct chaos_body *b, const struct mosquitto_message *msg)
{
	struct verdict_mqtt m = { .topic = str_of(msg->topic),
		.payload = { msg->payload, (size_t)msg->payloadlen },
		.qos = msg->qos,
		.retain = msg->retain };
	const struct wire_topic *row;
	struct verdict v = { 0 };
	char text[900];

	verdict_mqtt(b->arena, &m, &row, &v);
	if (!v.wrong)
		return;
	snprintf(text, sizeof(text), "MQTT %s: %s", msg->topic, v.why);
	chaos_wrong(b->h, chaos_now(), text);
}

static void
body_on_intent_action(struct chaos_body *b, json_t *m)
{
	json_t *skills = json_array(), *intent;
	struct chaos_delivery d = { .body = b->terminal,
		.request_id = tk_find_text(m, "request_id"),
		.session = tk_find_text(m, "session_id"),
		.skills = skills };
	size_t i;

	json_array_foreach (json_object_get(m, "intents"), i, intent)
		json_array_append_new(skills,
		    json_string(tk_find_text(intent, "normalized.skill")));
	chaos_deliver(b->h, chaos_now(), &d);
	json_decref(skills);
}

static void
body_on_invoke(struct chaos_body *b, json_t *m)
{
	json_t *skills = json_pack("[s]", tk_find_text(m, "skill"));
	const char *id = tk_find_text(m, "request_id");
	char leaf[200], topic[TOPIC_MAX], text[300];

	chaos_deliver(b->h, chaos_now(),
	    &(struct chaos_delivery){ b->terminal, id, NULL, skills });
	json_decref(skills);
	snprintf(leaf, sizeof(leaf), "result/%s", id);
	snprintf(text, sizeof(text),
	    "{\"request_id\":\"%s\",\"ok\":true,\"output\":\"done\"}", id);
	body_topic(b, leaf, topic);
	(void)mosquitto_publish(
	    b->m, NULL, topic, (int)strlen(text), text, 1, false);
}

static void
on_message(struct mosquitto *m, void *arg, const struct mosquitto_message *msg)
{
	struct chaos_body *b = arg;
	json_t *j;

	(void)m;
	body_verify(b, msg);
	j = json_loadb(msg->payload, (size_t)msg->payloadlen, 0, NULL);
	if (strstr(msg->topic, "/intent_action") != NULL)
		body_on_intent_action(b, j);
	else if (strstr(msg->topic, "/invoke/") != NULL)
		body_on_invoke(b, j);
	json_decref(j);
}

static bool
body_is_stopped(void *arg)
{
	return atomic_load(&((struct chaos_body *)arg)->stop);
}

static void *
body_main(void *arg)
{
	struct chaos_body *b = arg;

	while (!body_is_stopped(b)) {
		if (mosquitto_loop(b->m, LOOP_MS, 1) == MOSQ_ERR_SUCCESS)
			continue;
		if (!tk_until(body_is_stopped, b, RETRY_MS))
			(void)mosquitto_connect(
			    b->m, "127.0.0.1", atomic_load(&b->port), 60);
	}
	(void)mosquitto_disconnect(b->m);
	while (mosquitto_loop(b->m, LOOP_MS, 1) == MOSQ_ERR_SUCCESS)
		continue;
	return NULL;
}

/* ---- start and end ---- */

/* A document of the protocol's samples. */
static char *
body_document(const struct chaos_body *b, const char *message, const char *name)
{
	json_t *j = tk_case_data(message, name);
	char *text;

	json_object_set_new(j, "terminal_id", json_string(b->terminal));
	text = json_dumps(j, 0);
	json_decref(j);
	return text;
}

struct chaos_body *
chaos_body_new(struct chaos *h, const char *terminal, int port)
{
	struct chaos_body *b = mem_zalloc(sizeof(*b));
	char topic[TOPIC_MAX];

	b->h = h;
	atomic_store(&b->port, port);
	b->arena = arena_new(WIRE_ARENA_MAX);
	snprintf(b->terminal, sizeof(b->terminal), "%s", terminal);
	b->skills = body_document(b, "skills_report", "protocol 02-22, 3.3");
	b->intents =
	    body_document(b, "intent_catalog_report", "protocol 02-22, 3.10");
	(void)mosquitto_lib_init();
	b->m = mosquitto_new(terminal, true, b);
	ck_assert_ptr_nonnull(b->m);
	ck_assert_int_eq(mosquitto_threaded_set(b->m, true), MOSQ_ERR_SUCCESS);
	body_topic(b, "online", topic);
	ck_assert_int_eq(mosquitto_will_set(b->m, topic, (int)strlen("offline"),
			     "offline", 1, true),
	    MOSQ_ERR_SUCCESS);
	mosquitto_connect_callback_set(b->m, on_connect);
	mosquitto_disconnect_callback_set(b->m, on_disconnect);
	mosquitto_message_callback_set(b->m, on_message);
	ck_assert_int_eq(
	    mosquitto_connect(b->m, "127.0.0.1", port, 60), MOSQ_ERR_SUCCESS);
	ck_assert_int_eq(pthread_create(&b->thread, NULL, body_main, b), 0);
	return b;
}

void
chaos_body_free(struct chaos_body *b)
{
	atomic_store(&b->stop, true);
	ck_assert_int_eq(pthread_join(b->thread, NULL), 0);
	mosquitto_destroy(b->m);
	arena_free(b->arena);
	free(b->skills);
	free(b->intents);
	free(b);
}

void
chaos_body_heartbeat(struct chaos_body *b)
{
	if (atomic_load(&b->up))
		body_publish(b, "heartbeat", "1", false);
}

void
chaos_body_break(struct chaos_body *b, int port)
{
	int fd = mosquitto_socket(b->m);

	atomic_store(&b->port, port);
	if (fd >= 0)
		(void)shutdown(fd, SHUT_RDWR);
}
