/*
 * What a soul thinks between turns is in the prompt of its next ones.
 */
#include <stdio.h>

#include "state/nav.h"
#include "testkit/nats.h"
#include "testkit/orch_fixture.h"
#include "testkit/service.h"

#define TURNS      5
#define SUGGESTION "先安慰主人，少讲道理，多听。"

struct mind_link_fixture {
	struct orch_fixture orch;
	struct tk_service llm, nav;
};

static bool
has_consumer(void *arg)
{
	struct mind_link_fixture *m = arg;
	char code[TK_CODE];
	json_t *j = tk_nats_request(m->orch.peers.nc,
	    "$JS.API.CONSUMER.INFO.SOUL_EVENTS.navigator-turns", "", code);
	bool found = json_object_get(j, "config") != NULL;

	json_decref(j);
	return found;
}

static void
start_navigator(struct mind_link_fixture *m)
{
	struct tk_env sim = { 0 }, e = { 0 };

	tk_env_put(&sim, "NATS_URL=%s", m->orch.nats.url);
	tk_service_start(&m->llm, "llm-sim", "llm-sim", &sim);
	tk_env_put(&e, "NATS_URL=%s", m->orch.nats.url);
	tk_env_put(&e, "REDIS_URL=%s", m->orch.redis.url);
	tk_env_put(&e, "OPENAI_BASE_URL=http://127.0.0.1:%d/v1", m->llm.http);
	tk_env_list(&e, TK_ENV("REDIS_TIMEOUT_MS=5000"));
	tk_service_start(&m->nav, "navigator", "navigator", &e);
	ck_assert(tk_until(has_consumer, m, ORCH_WAIT_MS));
}

/* The system text of the turn's call of the model. */
static const char *
sad_turn(struct mind_link_fixture *m)
{
	size_t n = orch_model_requests(&m->orch.model);
	struct orch_turn t;
	char text[64];

	snprintf(text, sizeof(text), "我好难过，第%zu次", n + 1);
	orch_model_reply(&m->orch.model, "我在。", NULL);
	orch_turn_start(&t, &m->orch, text);
	orch_ck_completed(&t, .reply = "我在。", .executed = "", .failed = "");
	orch_turn_close(&t);
	ck_assert_uint_eq(orch_model_requests(&m->orch.model), n + 1);
	return orch_model_text(orch_model_request(&m->orch.model, n), 0);
}

static bool
has_link(void *arg)
{
	struct mind_link_fixture *m = arg;
	const struct nav_key k = { STR("u1"), STR("soul_1") };
	struct str json;

	arena_reset(m->orch.arena);
	return mind_link_read(m->orch.state, &k, m->orch.arena, &json) ==
	    RC_OK &&
	    json.p != NULL;
}

TEST_T(after_five_sad_turns_the_sixth_has_the_suggestion, 90)
{
	struct mind_link_fixture m = { 0 };

	orch_fixture_start(&m.orch, 1);
	orch_peers_set(&m.orch.peers, filter, INTENT_FALLBACK);
	tk_nats_events(m.orch.peers.nc);
	start_navigator(&m);
	for (int i = 0; i < TURNS; i++)
		ck_assert_ptr_null(strstr(sad_turn(&m), "【建议】"));
	orch_fixture_wait_state(&m.orch);
	ck_assert(tk_until(has_link, &m, 4 * ORCH_WAIT_MS));
	ck_assert_ptr_nonnull(strstr(sad_turn(&m), SUGGESTION));
	tk_service_end(&m.nav);
	tk_service_end(&m.llm);
	orch_fixture_stop(&m.orch);
}

TEST_T(without_a_navigator_no_call_has_one, 60)
{
	struct mind_link_fixture m = { 0 };

	orch_fixture_start(&m.orch, 1);
	orch_peers_set(&m.orch.peers, filter, INTENT_FALLBACK);
	for (int i = 0; i <= TURNS; i++)
		ck_assert_ptr_null(strstr(sad_turn(&m), "【建议】"));
	orch_fixture_stop(&m.orch);
}
