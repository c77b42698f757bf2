/*
 * What makes a soul think besides turns; triggers that come while it thinks
 * become one cycle.
 */
#include <stdio.h>
#include <string.h>

#include "testkit/navigator_fixture.h"

static void
send_event(struct navigator_fixture *f, const char *type, const char *key,
    const char *payload)
{
	char subject[TK_SUBJECT], json[1024];

	snprintf(subject, sizeof(subject), "soul.event.%s.%s", type, key);
	snprintf(json, sizeof(json),
	    "{\"trace_id\":\"0af76519-16cd-43dd-8448-eb211c80319c\","
	    "\"type\":\"%s\",\"source\":\"test\",\"payload\":%s,"
	    "\"meta\":{\"timestamp\":%lld}}",
	    type, payload, (long long)(clock_wall().ms / 1000));
	tk_nats_send(f->nc, subject, json);
}

static void
send_memory(struct navigator_fixture *f, int n, const char *source)
{
	char json[512];

	snprintf(json, sizeof(json),
	    "{\"memory_id\":\"mem_%d\",\"user_id\":\"u1\",\"soul_id\":\"s1\","
	    "\"type\":\"fact\",\"backend\":\"builtin\","
	    "\"trigger_source\":\"%s\"}",
	    n, source);
	send_event(f, "memory_stored", "s1", json);
}

static void
send_run(
    struct navigator_fixture *f, int n, const char *session, const char *state)
{
	char json[512];

	snprintf(json, sizeof(json),
	    "{\"run_id\":\"run_%d\",\"user_id\":\"u1\",%s"
	    "\"engine\":\"codex\",\"title\":\"t\",\"attempt\":1,"
	    "\"state\":\"%s\"}",
	    n, session, state);
	send_event(f, "run_ended", "run_1", json);
}

static void
ck_suggested(struct navigator_fixture *f, const char *trigger)
{
	json_t *j = navigator_fixture_next(f->suggestions);

	ck_assert_str_eq(
	    json_string_value(json_object_get(j, "trigger")), trigger);
	ck_assert_str_eq(
	    json_string_value(json_object_get(j, "soul_id")), "s1");
	json_decref(j);
}

/* All that was sent before is counted. */
struct counted {
	struct navigator_fixture *f;
	long long n;
};

static bool
has_counted(void *arg)
{
	const struct counted *c = arg;

	return tk_service_metric(&c->f->nav[0], "soul_nav_events_total") >=
	    c->n;
}

TEST_T(runs_and_memories_are_triggers, 60)
{
	struct navigator_fixture f;

	navigator_fixture_start(&f, 1);
	navigator_fixture_converse(&f, "帮我查一下天气");
	/* Those of no session, canceled, and what a cycle has stored. */
	send_run(&f, 1, "", "succeeded");
	send_run(&f, 2, "\"session_id\":\"c1\",", "canceled");
	send_run(&f, 3, "\"session_id\":\"other\",", "succeeded");
	send_memory(&f, 1, "navigator");
	send_run(&f, 4, "\"session_id\":\"c1\",", "succeeded");
	ck_suggested(&f, "result");
	send_memory(&f, 2, "compression");
	ck_suggested(&f, "memory");
	/* Delivered a second time. */
	send_memory(&f, 2, "compression");
	send_run(&f, 4, "\"session_id\":\"c1\",", "succeeded");
	ck_assert(tk_until(
	    has_counted, &(struct counted){ &f, 4 }, NAVIGATOR_FIXTURE_MS));
	navigator_fixture_turn(&f, "s1", "fear");
	ck_suggested(&f, "emotion");
	ck_assert_int_eq(navigator_fixture_calls(&f), 3);
	ck_assert_ptr_null(tk_nats_next(f.suggestions, 0, NULL));
	navigator_fixture_stop(&f);
}

/* A cycle of s1 is claimed. */
static bool
is_claimed(void *arg)
{
	const struct str ids[] = { STR("u1"), STR("s1") };
	struct navigator_fixture *f = arg;
	struct state_reply *r = NULL;
	char key[STATE_KEY_MAX];
	struct str k;

	ck_assert_int_eq(state_key(key, "soul:nav:{#}:%:%", ids, 2, &k), RC_OK);
	ck_assert_int_eq(
	    state_cmd(f->db.s, STATE_ARGS(STR("HEXISTS"), k, STR("id")), &r),
	    RC_OK);
	bool is = state_reply_int(r) == 1;
	state_reply_free(r);
	return is;
}

TEST_T(triggers_while_a_soul_thinks_become_one_cycle, 90)
{
	struct navigator_fixture f;

	navigator_fixture_start(&f, 1);
	navigator_fixture_converse(&f, "我好难过");
	navigator_fixture_script_json(
	    &f, "{\"faults\":[{\"kind\":\"slow\",\"delay_ms\":3000}]}");
	send_memory(&f, 1, "compression");
	ck_assert(tk_until(is_claimed, &f, NAVIGATOR_FIXTURE_MS));
	for (int i = 2; i < 12; i++)
		send_memory(&f, i, "compression");
	navigator_fixture_turn(&f, "s1", "sadness");
	send_run(&f, 1, "\"session_id\":\"c1\",", "failed");
	ck_assert(tk_until(
	    has_counted, &(struct counted){ &f, 13 }, NAVIGATOR_FIXTURE_MS));
	ck_suggested(&f, "memory");
	/* The highest of those that came meanwhile. */
	ck_suggested(&f, "emotion");
	navigator_fixture_wait_ended(&f, "trigger=\"emotion\",end=\"done\"");
	ck_assert_int_eq(navigator_fixture_calls(&f), 2);
	ck_assert_ptr_null(tk_nats_next(f.suggestions, 0, NULL));
	navigator_fixture_stop(&f);
}
