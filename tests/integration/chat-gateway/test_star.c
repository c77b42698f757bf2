/*
 * Environments of the Star Protocol over HTTP: what star-hub has.
 */
#include "testkit/gateway_fixture.h"
#include "testkit/star_fixture.h"

#define ENV  "environment:demo_world"
#define PATH "/v1/star/environments"

TEST(environments_members_and_events_are_listed)
{
	struct gateway_fixture b;
	struct star_fixture f = { 0 };
	struct tk_ws env, a;
	char path[160];
	json_t *r;

	gateway_fixture_start_alone(&b, NULL);
	gw_rejects(&b, "GET", PATH, NULL, 503, "no star-hub is running");
	f.nats = b.nats;
	f.redis = b.redis;
	star_start(&f, STAR_QUIET);
	star_open(&f, &env, "/env/demo_world");
	star_open(&f, &a, "/env/demo_world/agent/agent_001");
	r = gw_json(&b, "GET", PATH, NULL);
	ck_assert(tk_json_equals(
	    tk_at(r, "items"), "[{\"env_id\":\"demo_world\",\"members\":1}]"));
	ck_assert_int_eq(json_integer_value(tk_at(r, "agents")), 1);
	ck_assert_int_eq(json_integer_value(tk_at(r, "hubs")), 1);
	json_decref(r);
	r = gw_json(&b, "GET", PATH "/demo_world/members", NULL);
	ck_assert_str_eq(tk_text(r, "items.0.id"), "agent_001");
	ck_assert_str_eq(tk_text(r, "items.0.type"), "agent");
	ck_assert(json_is_true(tk_at(r, "up")));
	json_decref(r);
	star_send(&env, ENV, "agent:*", "{\"n\":1}");
	star_send(&env, ENV, "agent:*", "{\"n\":2}");
	star_expect_message(&a, ENV, "agent:*", "{\"n\":1}");
	star_expect_message(&a, ENV, "agent:*", "{\"n\":2}");
	/* They are stored a moment after they were sent. */
	do {
		r = gw_json(&b, "GET", PATH "/demo_world/events?limit=1", NULL);
		if (json_array_size(tk_at(r, "events")) == 1 &&
		    json_is_true(tk_at(r, "more")))
			break;
		json_decref(r);
	} while (true);
	ck_assert(tk_json_equals(tk_at(r, "events.0.payload"), "{\"n\":1}"));
	snprintf(path, sizeof(path), PATH "/demo_world/events?after=%s",
	    tk_text(r, "cursor"));
	json_decref(r);
	r = gw_json(&b, "GET", path, NULL);
	ck_assert(tk_json_equals(tk_at(r, "events.0.payload"), "{\"n\":2}"));
	ck_assert(json_is_false(tk_at(r, "more")));
	ck_assert(json_is_false(tk_at(r, "gap")));
	json_decref(r);
	gw_rejects(&b, "GET", PATH "/demo_world/events?limit=101", NULL, 400,
	    "limit: must be 1 to 100");
	gw_rejects(&b, "GET", PATH "/demo_world/events?after=x", NULL, 400,
	    "/after: is no cursor of an event");
	tk_ws_close(&env);
	tk_ws_close(&a);
	star_stop(&f);
	gateway_fixture_stop(&b);
}

TEST(a_client_is_disconnected)
{
	struct gateway_fixture b;
	struct star_fixture f = { 0 };
	struct tk_ws bob;

	gateway_fixture_start_alone(&b, NULL);
	f.nats = b.nats;
	f.redis = b.redis;
	star_start(&f, STAR_QUIET);
	star_open(&f, &bob, "/human/bob");
	gw_rejects(&b, "DELETE", "/v1/star/clients/hub/bob", NULL, 400,
	    "class: must be agent, environment or human");
	gw_rejects(&b, "DELETE", "/v1/star/clients/agent/agent_001", NULL, 400,
	    "/id: is no id of a client; an agent has an env_id");
	json_decref(gw_json(
	    &b, "DELETE", "/v1/star/clients/human/bob?reason=enough", NULL));
	ck_assert_uint_eq(tk_ws_end(&bob), 1008);
	ck_assert_str_eq(bob.reason, "disconnected by an operator: enough");
	gw_rejects(&b, "DELETE", "/v1/star/clients/human/bob", NULL, 404,
	    "no client has this identity");
	tk_ws_close(&bob);
	star_stop(&f);
	gateway_fixture_stop(&b);
}
