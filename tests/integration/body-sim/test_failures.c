/* Simulated failures. */
#include <stdio.h>
#include <string.h>

#include "testkit/sim_fixture.h"

#define T2 "soul/terminal/terminal-002/"

/* Two bodies, the second of which has the failures. */
static void
failures_start(struct sim_fixture *b, const char *failures)
{
	char text[64];
	const char *const env[] = { "BODY_COUNT=2", "BODY_FAULT_SHARE=0.5",
		text, NULL };

	snprintf(text, sizeof(text), "BODY_FAULTS=%s", failures);
	sim_fixture_start(b, env);
}

static json_t *
failures_invoke(struct sim_fixture *b, const char *terminal, const char *id)
{
	return sim_fixture_invoke(
	    b, terminal, id, "control_light", "{\"mode\":\"on\"}");
}

/* The body without failures executes an invoke. */
static void
failures_ck_other_works(struct sim_fixture *b, const char *id)
{
	json_t *j = failures_invoke(b, "terminal-001", id);

	ck_assert(json_is_true(tk_find(j, "ok")));
	ck_assert_str_eq(tk_find_text(j, "request_id"), id);
	json_decref(j);
}

static bool
failures_logged(struct sim_fixture *b, const char *text)
{
	return sim_fixture_wait(b, "terminal-002", "logs", text);
}

static const char invoke_on[] =
    "{\"request_id\":\"r1\",\"skill\":\"control_light\","
    "\"arguments\":{\"mode\":\"on\"}}";

TEST(silent_ignores_commands)
{
	struct sim_fixture b;
	json_t *j;

	failures_start(&b, "silent");
	mqtt_peer_send(&b.peer, T2 "invoke/r1", invoke_on, false);
	ck_assert(failures_logged(&b, "invoke not answered"));
	failures_ck_other_works(&b, "r2");
	ck_assert_ptr_null(mqtt_peer_nth(&b.peer, T2 "result/r1", 0));
	j = sim_fixture_state(&b, "terminal-002");
	ck_assert_str_eq(tk_find_text(j, "color"), "off");
	ck_assert(json_is_true(tk_find(j, "online")));
	json_decref(j);
	sim_fixture_stop(&b);
}

TEST(a_delay_postpones_results)
{
	struct mqtt_peer_msg *sent, *result;
	struct sim_fixture b;
	json_t *j;

	failures_start(&b, "late=1200");
	j = failures_invoke(&b, "terminal-002", "r1");
	ck_assert(json_is_true(tk_find(j, "ok")));
	json_decref(j);
	sent = mqtt_peer_get(&b.peer, T2 "invoke/r1", 0);
	result = mqtt_peer_get(&b.peer, T2 "result/r1", 0);
	ck_assert_int_ge(mono_diff_ms(result->at, sent->at), 1150);
	failures_ck_other_works(&b, "r2");
	/* Still delayed when the process stops. */
	mqtt_peer_send(&b.peer, T2 "invoke/r3", invoke_on, false);
	sim_fixture_stop(&b);
}

TEST(error_fails_every_skill)
{
	struct sim_fixture b;
	json_t *j;

	failures_start(&b, "error");
	j = failures_invoke(&b, "terminal-002", "r1");
	ck_assert(!json_is_true(tk_find(j, "ok")));
	ck_assert_str_eq(tk_find_text(j, "error"), "simulated failure");
	json_decref(j);
	j = sim_fixture_state(&b, "terminal-002");
	ck_assert_str_eq(tk_find_text(j, "color"), "off");
	json_decref(j);
	failures_ck_other_works(&b, "r2");
	sim_fixture_stop(&b);
}

TEST(wrong_request_id_changes_the_id)
{
	struct sim_fixture b;
	json_t *j;

	failures_start(&b, "wrong-request-id");
	j = failures_invoke(&b, "terminal-002", "r1");
	ck_assert(json_is_true(tk_find(j, "ok")));
	ck_assert_uint_eq(strlen(tk_find_text(j, "request_id")), 36);
	json_decref(j);
	failures_ck_other_works(&b, "r2");
	sim_fixture_stop(&b);
}

/* online, offline, online, ...: that many, of the failing body only. */
static void
failures_ck_alternates(struct sim_fixture *b, int n)
{
	int i;

	for (i = 0; i < n; i++)
		ck_assert_str_eq(
		    mqtt_peer_get(&b->peer, T2 "online", i)->payload,
		    i % 2 == 0 ? "online" : "offline");
	ck_assert_ptr_nonnull(mqtt_peer_get(&b->peer, T2 "intent_catalog", 2));
	ck_assert_ptr_null(mqtt_peer_nth(&b->peer, T1 "online", 1));
}

TEST(drop_breaks_the_connection)
{
	struct sim_fixture b;

	failures_start(&b, "drop=0.5");
	failures_ck_alternates(&b, 5);
	ck_assert(failures_logged(&b, "drops the connection"));
	failures_ck_other_works(&b, "r1");
	sim_fixture_stop(&b);
}

TEST(flap_goes_offline_and_online)
{
	struct sim_fixture b;

	failures_start(&b, "flap=0.3");
	failures_ck_alternates(&b, 6);
	/* Without losing its connection. */
	ck_assert(failures_logged(&b, "goes offline"));
	failures_ck_other_works(&b, "r1");
	sim_fixture_stop(&b);
}

TEST(all_bodies_fail_without_a_share)
{
	static const char *const env[] = { "BODY_COUNT=3", "BODY_FAULTS=error",
		NULL };
	char id[32];
	struct sim_fixture b;
	json_t *j;
	int i;

	sim_fixture_start(&b, env);
	for (i = 1; i <= 3; i++) {
		snprintf(id, sizeof(id), "terminal-%03d", i);
		j = failures_invoke(&b, id, "r1");
		ck_assert(!json_is_true(tk_find(j, "ok")));
		json_decref(j);
	}
	sim_fixture_stop(&b);
}
