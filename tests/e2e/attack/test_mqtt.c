/*
 * A device with valid credentials impersonates other devices or the server: the
 * broker denies all of it, and what it may publish about itself affects no
 * other device.
 */
#include <mosquitto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/cases.h"
#include "testkit/stack/conversation.h"
#include "testkit/stack/load.h"
#include "testkit/stack/lock.h"
#include "testkit/stack/peer.h"
#include "wire/iface.h"

STACK_SHARED({ .locked = true })

#define TERMINAL "soul/terminal/"
#define UUID     "00000000-0000-4000-8000-00000000000"

static struct peer *
evil_new(void)
{
	return peer_new(&stack, &(struct peer_opts){ .as = LOCK_EVIL });
}

/* ---- authentication ---- */

TEST_T(a_terminal_needs_its_password, 60)
{
	static const char *const users[] = { NULL, "", "mqtt-bridge", "health",
		"witness", "nobody", STACK_BODY, LOCK_VICTIM, "acme/ada",
		LOCK_EVIL " ", "#", "+" };
	static const char *const passwords[] = { NULL, "", "secret", "$7$",
		"secret-of-the-bridge", "secret-of-mqtt-bridge" };
	struct client o = load_prepare(&stack);
	struct load *n = load_begin(&o);
	size_t i, k;

	for (i = 0; i < NELEM(users); i++) {
		for (k = 0; k < NELEM(passwords); k++)
			ck_assert_msg(
			    !lock_lets_in(&stack, users[i], passwords[k]),
			    "%s with %s", users[i], passwords[k]);
		/* The password of another device. */
		ck_assert(
		    !lock_lets_in(&stack, users[i], lock_password(LOCK_EVIL)));
	}
	ck_assert(lock_lets_in(&stack, LOCK_EVIL, lock_password(LOCK_EVIL)));
	load_end(n, NULL);
}

/* ---- subscriptions ---- */

TEST_T(no_terminal_receives_the_topics_of_another, 60)
{
	static const char *const filters[] = { "#", "+/#", "soul/#", "+", "/#",
		"soul/terminal/#", "soul/terminal/+/#", "soul/+/+/invoke/+",
		"soul/terminal/+/invoke/+", "soul/terminal/+/status",
		"soul/terminal/+/result/+", "soul/terminal/+/online",
		TERMINAL LOCK_VICTIM "/#", TERMINAL LOCK_VICTIM "/invoke/+",
		TERMINAL LOCK_VICTIM "/status",
		TERMINAL LOCK_VICTIM "/emotion_update",
		TERMINAL LOCK_VICTIM "/intent_action",
		TERMINAL LOCK_EVIL "/online", TERMINAL LOCK_EVIL "/heartbeat",
		TERMINAL LOCK_EVIL "/skills", TERMINAL LOCK_EVIL "/result/+",
		TERMINAL LOCK_EVIL "/invoke", TERMINAL LOCK_EVIL "x/status",
		"soul/terminal//status", "$SYS/#", "$SYS/broker/uptime",
		"$SYS/broker/clients/total", "$CONTROL/#",
		"$CONTROL/dynamic-security/v1", "$share/g/#",
		"$share/g/soul/terminal/+/invoke/+",
		"$share/g/" TERMINAL LOCK_VICTIM "/invoke/+",
		"$share/g/" TERMINAL LOCK_VICTIM "/status", "$share/g/$SYS/#",
		"$queue/#" };
	static const char *const own[] = { TERMINAL LOCK_EVIL "/#",
		TERMINAL LOCK_EVIL "/+/+", TERMINAL LOCK_EVIL "/invoke/#",
		TERMINAL LOCK_EVIL "/status" };
	struct client victim = { &stack, "ada", "s1", LOCK_VICTIM };
	struct client o = load_prepare(&stack);
	struct load *n = load_begin(&o);
	struct terminal body = { .user = "ada" };
	struct peer *evil = evil_new();
	size_t i;
	json_t *m;

	for (i = 0; i < NELEM(filters); i++)
		ck_assert_msg(
		    !peer_try_subscribe(evil, filters[i]), "%s", filters[i]);
	for (i = 0; i < NELEM(own); i++)
		peer_subscribe(evil, own[i]);
	terminal_connect(&body, &stack, LOCK_VICTIM, TERMINAL_0222);
	client_select_soul(&stack, "ada", LOCK_VICTIM,
	    client_create_soul(&stack, "ada", "x", "INTJ"));
	json_decref(client_chat(&victim, "把灯变成绿色"));
	m = peer_await(body.peer, "/intent_action", "topic", LOCK_VICTIM);
	json_decref(m);
	m = peer_next(body.peer, "/emotion_update", STACK_MS);
	ck_assert_ptr_nonnull(m);
	json_decref(m);
	m = peer_next(evil, "", 200);
	ck_assert_msg(m == NULL, "received %s", json_dumps(m, 0));
	ck_assert(tk_log_has(&stack.server[STACK_MQTT].proc,
	    "mosquitto-gate: body " LOCK_EVIL ": SUBSCRIBE"));
	load_end(n, NULL);
	terminal_free(&body);
	peer_free(evil);
}

/* ---- publishing ---- */

/* Marks forged messages. */
#define FORGED "forged-by-hostile"

static const char *const others[] = { LOCK_VICTIM, STACK_BODY, LOCK_ACME,
	LOCK_OTHER, "lamp-1", LOCK_EVIL "x", "" };

static void
forge_leaves(struct peer *evil, const char *terminal, bool from_body)
{
	char topic[256];
	size_t i;

	for (i = 0; i < wire_topics_n; i++) {
		if (wire_topics[i].from_body != from_body)
			continue;
		snprintf(topic, sizeof(topic), TERMINAL "%s/%s", terminal,
		    wire_topics[i].leaf);
		if (strchr(topic, '+') != NULL)
			memcpy(strchr(topic, '+'), "r", 2);
		peer_send(evil, topic, FORGED, strlen(FORGED), PEER_REPORT);
		peer_send(evil, topic, FORGED, strlen(FORGED), PEER_QOS0);
	}
}

TEST_T(no_terminal_publishes_for_another, 60)
{
	static const char *const topics[] = { "soul", "soul/terminal",
		"/soul/terminal/" LOCK_VICTIM "/online",
		"Soul/terminal/" LOCK_VICTIM "/online",
		TERMINAL LOCK_EVIL "/../" LOCK_VICTIM "/online",
		TERMINAL LOCK_EVIL "/nothing", TERMINAL LOCK_EVIL "/result",
		TERMINAL LOCK_EVIL "/result/a/b", TERMINAL LOCK_EVIL,
		TERMINAL LOCK_EVIL "/skills/more", "$SYS/broker/uptime",
		"$CONTROL/dynamic-security/v1", "$share/g/x",
		"other/terminal/" LOCK_EVIL "/online" };
	struct client o = load_prepare(&stack);
	struct load *n = load_begin(&o);
	struct peer *evil = evil_new();
	struct peer *witness = peer_new(&stack, NULL);
	json_t *m;
	size_t i;

	peer_subscribe(witness, "#");
	for (i = 0; i < NELEM(others); i++) {
		forge_leaves(evil, others[i], true);
		forge_leaves(evil, others[i], false);
	}
	/* Topics of its own that only the server may publish to. */
	forge_leaves(evil, LOCK_EVIL, false);
	for (i = 0; i < NELEM(topics); i++)
		peer_send(evil, topics[i], FORGED, strlen(FORGED), PEER_REPORT);
	/* Followed by a message that is permitted. */
	peer_send(evil, TERMINAL LOCK_EVIL "/heartbeat", "1", 1, PEER_QOS1);
	json_decref(peer_await(witness, LOCK_EVIL "/heartbeat", "topic", ""));
	while ((m = peer_next(witness, "", 0)) != NULL) {
		ck_assert_msg(!json_is_string(json_object_get(m, "payload")) ||
			!tk_text_has(m, "payload", FORGED),
		    "%s", json_dumps(m, 0));
		json_decref(m);
	}
	load_end(n, NULL);
	peer_free(witness);
	peer_free(evil);
}

/* The broker publishes a will, but with the permissions of the device. */
TEST_T(a_will_for_another_terminal_is_not_published, 60)
{
	json_t *m;
	struct peer *witness = peer_new(&stack, NULL);
	struct peer *evil = peer_new(&stack,
	    &(struct peer_opts){ .as = LOCK_EVIL,
		.will_topic = TERMINAL STACK_BODY "/online",
		.will = FORGED });

	peer_subscribe(witness, "soul/terminal/+/online");
	peer_drop(evil);
	evil = evil_new();
	peer_send(evil, TERMINAL LOCK_EVIL "/online", "online", 6, PEER_REPORT);
	json_decref(
	    peer_await(witness, LOCK_EVIL "/online", "payload", "online"));
	/* Except for messages retained earlier. */
	while ((m = peer_next(witness, STACK_BODY "/online", 0)) != NULL) {
		ck_assert(!tk_text_has(m, "payload", FORGED));
		json_decref(m);
	}
	peer_free(witness);
	peer_free(evil);
}

/*
 * The client id is set to the user name, so it cannot take over another
 * session.
 */
TEST_T(a_client_id_of_another_disconnects_no_session, 60)
{
	static const char *const ids[] = { LOCK_VICTIM, STACK_BODY,
		"body-sim-" STACK_BODY, "mqtt-bridge", "bridge-main" };
	struct client o = load_prepare(&stack);
	struct load *n = load_begin(&o);
	struct terminal body = { .user = "ada" };
	size_t i;

	terminal_connect(&body, &stack, LOCK_VICTIM, TERMINAL_0222);
	for (i = 0; i < NELEM(ids); i++)
		peer_free(peer_new(&stack,
		    &(struct peer_opts){
			.as = LOCK_EVIL, .client_id = ids[i] }));
	ck_assert(peer_is_up(body.peer));
	load_end(n, NULL);
	ck_assert(peer_is_up(body.peer));
	terminal_free(&body);
}

/* ---- results ---- */

/* A device whose invokes are received here and answered by the test. */
static struct client
prepare_victim(struct terminal *b, const char *soul)
{
	*b = (struct terminal){ .user = "ada", .manner = TERMINAL_IS_SILENT };
	terminal_connect(b, &stack, LOCK_VICTIM, TERMINAL_0222);
	client_select_soul(&stack, "ada", LOCK_VICTIM,
	    client_create_soul(&stack, "ada", soul, "INTJ"));
	return (struct client){ &stack, "ada", soul, LOCK_VICTIM };
}

static void
send_result(struct peer *p, const char *terminal, const char *request,
    const char *output)
{
	char topic[256], payload[512];

	snprintf(
	    topic, sizeof(topic), TERMINAL "%s/result/%s", terminal, request);
	snprintf(payload, sizeof(payload),
	    "{\"terminal_id\":\"%s\",\"request_id\":\"%s\",\"ok\":true,"
	    "\"output\":\"%s\"}",
	    terminal, request, output);
	peer_send(p, topic, payload, strlen(payload), PEER_QOS1);
}

TEST_T(a_result_of_another_terminal_is_ignored, 60)
{
	struct client o = load_prepare(&stack), ada;
	struct load *n = load_begin(&o);
	struct peer *evil = evil_new();
	struct terminal body;
	struct conversation *conversation;
	char request[128], *text;
	json_t *m, *j;
	int status;

	ada = prepare_victim(&body, "results");
	conversation = conversation_begin(&ada, "动一动你的脑袋吧");
	m = peer_await(body.peer, "", "topic", "/invoke/");
	snprintf(request, sizeof(request), "%s",
	    strstr(tk_text(m, "topic"), "/invoke/") + strlen("/invoke/"));
	json_decref(m);
	/*
	 * While the invoke is pending: to the other device's topic, to its own,
	 * twice.
	 */
	send_result(evil, LOCK_VICTIM, request, FORGED);
	send_result(evil, LOCK_EVIL, request, FORGED);
	send_result(evil, LOCK_EVIL, request, FORGED);
	send_result(body.peer, LOCK_VICTIM, request, "the true result");
	/* A second result of the device itself is ignored, too. */
	send_result(body.peer, LOCK_VICTIM, request, FORGED);
	send_result(body.peer, LOCK_VICTIM, UUID "1", FORGED);
	j = conversation_end(conversation, &status);
	ck_assert_int_eq(status, 200);
	text = json_dumps(j, 0);
	ck_assert_msg(strstr(text, FORGED) == NULL &&
		strstr(text, "the true result") != NULL,
	    "%s", text);
	free(text);
	json_decref(j);
	load_end(n, NULL);
	peer_free(evil);
	terminal_free(&body);
}

/* ---- reports ---- */

TEST_T(a_report_counts_for_its_topic_only, 60)
{
	struct client o = load_prepare(&stack);
	struct load *n = load_begin(&o);
	struct terminal evil = { .user = "mallory" };
	json_t *before, *after, *j;

	before = client_terminal(&stack, STACK_USER, STACK_BODY);
	terminal_connect(&evil, &stack, LOCK_EVIL, TERMINAL_0222);
	j = tk_case_data("skills_report", "protocol 02-22, 3.3");
	json_object_set_new(j, "terminal_id", json_string(STACK_BODY));
	json_object_set_new(j, "skill_version", json_integer(99));
	terminal_report(&evil, "skills", j);
	client_wait_report_outcome(&stack, "mallory", LOCK_EVIL, "refused");
	after = client_terminal(&stack, STACK_USER, STACK_BODY);
	ck_assert(json_equal(tk_at(before, "skills"), tk_at(after, "skills")));
	ck_assert(json_equal(
	    tk_at(before, "skill_version"), tk_at(after, "skill_version")));
	load_end(n, NULL);
	json_decref(before);
	json_decref(after);
	terminal_free(&evil);
}
