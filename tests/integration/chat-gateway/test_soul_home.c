/*
 * The environment in which a soul lives, over HTTP, for its owner only; a peer
 * of the test stands in for star-hub.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "state/star_home.h"
#include "testkit/gateway_fixture.h"

#define BODY                                              \
	"{\"user_id\":\"ann\",\"env_id\":\"demo_world\"," \
	"\"agent_id\":\"agent_001\"}"
#define HOME                                                         \
	"{\"soul_id\":\"s\",\"env_id\":\"demo_world\",\"agent_id\":" \
	"\"agent_001\",\"terminal_id\":\"star-x\",\"present\":true}"

static const char *
star_path(const char *soul, const char *rest)
{
	static char text[512];

	snprintf(text, sizeof(text), "/v1/souls/%s/star%s", soul, rest);
	return text;
}

/* What the hub of the test replies, and the last request that it got. */
struct hub {
	natsSubscription *sub[2];
	const char *reply, *error, *code;
	char request[512];
};

static void
hub_on_request(natsConnection *nc, natsSubscription *s, natsMsg *m, void *arg)
{
	struct hub *h = arg;
	natsMsg *r = NULL;

	(void)s;
	snprintf(h->request, sizeof(h->request), "%s", natsMsg_GetData(m));
	natsMsg_Create(
	    &r, natsMsg_GetReply(m), NULL, h->reply, (int)strlen(h->reply));
	if (h->error != NULL) {
		natsMsgHeader_Set(r, "Nats-Service-Error", h->error);
		natsMsgHeader_Set(r, "Nats-Service-Error-Code", h->code);
	}
	natsConnection_PublishMsg(nc, r);
	natsMsg_Destroy(r);
	natsMsg_Destroy(m);
}

static void
hub_start(struct hub *h, struct gateway_fixture *b)
{
	static const char *const subjects[] = { "soul.rpc.star.enter",
		"soul.rpc.star.leave" };
	int i;

	memset(h, 0, sizeof(*h));
	for (i = 0; i < 2; i++)
		ck_assert_int_eq(natsConnection_Subscribe(&h->sub[i], b->nc,
				     subjects[i], hub_on_request, h),
		    NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(b->nc), NATS_OK);
}

static void
hub_stop(struct hub *h)
{
	int i;

	for (i = 0; i < 2; i++)
		natsSubscription_Destroy(h->sub[i]);
}

TEST(without_a_hub_souls_live_nowhere)
{
	char id[GW_SOUL_ID];
	struct gateway_fixture b;

	gateway_fixture_start(&b, NULL);
	gw_soul(&b, "ann", "friendly", id);
	gw_rejects(
	    &b, "POST", star_path(id, ""), BODY, 503, "no star-hub is running");
	gw_rejects(&b, "GET", star_path(id, "?user_id=ann"), NULL, 404,
	    "the soul lives in no environment");
	gw_rejects(&b, "DELETE", star_path(id, "?user_id=ann"), NULL, 404,
	    "the soul lives in no environment");
	gw_rejects(
	    &b, "POST", star_path("other", ""), BODY, 404, "soul not found");
	gw_rejects(&b, "POST", star_path(id, ""),
	    "{\"user_id\":\"bob\",\"env_id\":\"demo_world\","
	    "\"agent_id\":\"agent_001\"}",
	    404, "soul not found");
	gw_rejects(&b, "POST", star_path(id, ""),
	    "{\"user_id\":\"ann\",\"env_id\":\"demo_world\"}", 400,
	    "/agent_id: is missing");
	gw_rejects(&b, "GET", star_path(id, "?user_id=bob"), NULL, 404,
	    "soul not found");
	gateway_fixture_stop(&b);
}

TEST(the_hub_puts_a_soul_into_an_environment)
{
	char id[GW_SOUL_ID], want[256];
	struct gateway_fixture b;
	struct hub h;
	json_t *j;

	gateway_fixture_start(&b, NULL);
	gw_soul(&b, "ann", "friendly", id);
	hub_start(&h, &b);
	h.reply = HOME;
	j = gw_json(&b, "POST", star_path(id, ""), BODY);
	ck_assert_str_eq(tk_text(j, "terminal_id"), "star-x");
	json_decref(j);
	snprintf(want, sizeof(want),
	    "{\"user_id\":\"ann\",\"soul_id\":\"%s\",\"env_id\":"
	    "\"demo_world\",\"agent_id\":\"agent_001\"}",
	    id);
	ck_assert_str_eq(h.request, want);
	h.reply = "{\"error\":\"x\",\"code\":\"conflict\"}";
	h.error = "conflict";
	h.code = "409";
	gw_rejects(&b, "POST", star_path(id, ""), BODY, 409,
	    "another soul is this agent of the environment");
	h.reply = "{\"error\":\"env_id: an id must not have / ? # *\","
		  "\"code\":\"invalid_request\"}";
	h.error = "invalid_request";
	h.code = "400";
	gw_rejects(&b, "POST", star_path(id, ""), BODY, 400,
	    "env_id: an id must not have / ? # *");
	hub_stop(&h);
	gateway_fixture_stop(&b);
}

TEST(an_owner_sees_and_ends_where_a_soul_lives)
{
	char id[GW_SOUL_ID];
	struct star_home home = { 0 }, before;
	struct gateway_fixture b;
	struct hub h;
	json_t *j;

	gateway_fixture_start(&b, NULL);
	gw_soul(&b, "ann", "friendly", id);
	home = (struct star_home){ .user_id = STR("ann"),
		.soul_id = str_of(id),
		.room = { STR("-"), STR("demo_world") },
		.env_id = STR("demo_world"),
		.agent_id = STR("agent_001"),
		.terminal_id = STR("star-x") };
	ck_assert_int_eq(
	    star_home_enter(b.db.s, &home, b.db.arena, &before), RC_OK);
	j = gw_json(&b, "GET", star_path(id, "?user_id=ann"), NULL);
	ck_assert_str_eq(tk_text(j, "env_id"), "demo_world");
	ck_assert_str_eq(tk_text(j, "agent_id"), "agent_001");
	ck_assert_str_eq(tk_text(j, "terminal_id"), "star-x");
	ck_assert(!json_is_true(tk_at(j, "present")));
	json_decref(j);
	gw_rejects(&b, "GET", star_path(id, "?user_id=bob"), NULL, 404,
	    "soul not found");
	gw_rejects(&b, "DELETE", star_path(id, "?user_id=ann"), NULL, 503,
	    "no star-hub is running");
	hub_start(&h, &b);
	h.reply = "{\"ok\":true}";
	gw_ok(&b, "DELETE", star_path(id, "?user_id=ann"), NULL);
	ck_assert_ptr_nonnull(strstr(h.request, "\"user_id\":\"ann\""));
	hub_stop(&h);
	gateway_fixture_stop(&b);
}

TEST(other_roles_and_users_are_denied)
{
	static const struct {
		const char *token, *method, *want;
	} rows[] = {
		{ TOKEN_BOB, "GET", "404 soul not found" },
		{ TOKEN_BOB, "DELETE", "404 soul not found" },
		{ TOKEN_PROVISIONER, "GET", "403 " },
		{ TOKEN_LAMP, "DELETE", "403 " },
		{ TOKEN_ANN, "GET", "404 the soul lives in no environment" },
	};
	char id[GW_SOUL_ID];
	struct gateway_fixture b;
	size_t i;

	gw_start_with_tokens(&b);
	gw_soul_as(&b, TOKEN_ANN, "friendly", id);
	for (i = 0; i < NELEM(rows); i++)
		gw_rejects_as(&b, rows[i].token, rows[i].method,
		    star_path(id, ""), NULL, rows[i].want);
	gw_rejects_as(&b, TOKEN_BOB, "POST", star_path(id, ""),
	    "{\"env_id\":\"demo_world\",\"agent_id\":\"agent_001\"}",
	    "404 soul not found");
	gw_rejects_as(&b, TOKEN_ANN, "POST", star_path(id, ""),
	    "{\"env_id\":\"demo_world\",\"agent_id\":\"agent_001\"}",
	    "503 no star-hub is running");
	gateway_fixture_stop(&b);
}
