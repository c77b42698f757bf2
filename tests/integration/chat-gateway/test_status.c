/* The state of the services, for operators with what they miss. */
#include <signal.h>
#include <string.h>

#include "testkit/gateway_fixture.h"

/* The entry of a service; NULL: there is none. */
static json_t *
service_of(json_t *status, const char *name)
{
	json_t *e;
	size_t i;

	json_array_foreach (tk_at(status, "services"), i, e)
		if (strcmp(tk_text(e, "name"), name) == 0)
			return e;
	return NULL;
}

TEST(operators_see_what_others_do_not)
{
	struct gateway_fixture b;
	json_t *j, *e;

	gw_start_with_tokens(&b);
	j = gw_json_as(&b, TOKEN_OPERATOR, "GET", "/v1/status", NULL);
	ck_assert(json_is_true(tk_at(j, "ok")));
	e = service_of(j, "emotion-engine");
	ck_assert(e != NULL && json_is_true(tk_at(e, "ready")));
	ck_assert_str_eq(tk_text(e, "status"), "ok\n");
	ck_assert_str_eq(tk_text(e, "version"), tk_text(j, "version"));
	ck_assert_ptr_nonnull(json_object_get(e, "instance"));
	ck_assert_ptr_nonnull(json_object_get(e, "since"));
	ck_assert_ptr_nonnull(service_of(j, "chat-gateway"));
	json_decref(j);
	j = gw_json_as(&b, TOKEN_ANN, "GET", "/v1/status", NULL);
	e = service_of(j, "emotion-engine");
	ck_assert_ptr_nonnull(e);
	ck_assert_ptr_null(json_object_get(e, "status"));
	ck_assert_ptr_null(json_object_get(e, "instance"));
	json_decref(j);
	gateway_fixture_stop(&b);
}

static bool
engine_is_unready(void *arg)
{
	json_t *j = gw_json(arg, "GET", "/v1/status", NULL);
	json_t *e = service_of(j, "emotion-engine");
	bool is = e != NULL && json_is_false(tk_at(e, "ready")) &&
	    strstr(tk_text(e, "status"), "is not reachable\n") != NULL &&
	    json_is_false(tk_at(j, "ok"));

	json_decref(j);
	return is;
}

TEST(a_service_without_its_redis_is_listed)
{
	struct gateway_fixture b;

	gateway_fixture_start(&b, NULL);
	tk_server_stop(&b.redis, SIGTERM);
	ck_assert(tk_until(engine_is_unready, &b, GW_MS));
	tk_server_restart(&b.redis);
	gateway_fixture_stop(&b);
}
