/*
 * What operators do, and what is audited.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/json.h"
#include "testkit/nats.h"
#include "testkit/star_fixture.h"
#include "testkit/tokens.h"

#define ALICE "alice-0123456789abcdef0123456789"
#define CAROL "carol-0123456789abcdef0123456789"
#define OPS   "ops---0123456789abcdef0123456789"

#define ENV     "environment:demo_world"
#define A       "agent:agent_001"
#define OPS_IS  "human:ops"
#define WAIT_MS 20000

static const struct tk_token tokens[] = {
	{ ALICE, "\"role\":\"owner\",\"tenant\":\"one\",\"user\":\"alice\"" },
	{ CAROL, "\"role\":\"owner\",\"tenant\":\"two\",\"user\":\"carol\"" },
	{ OPS, "\"role\":\"operator\",\"tenant\":\"one\",\"user\":\"olga\"" },
};

struct admin {
	struct star_fixture f;
	natsConnection *nc;
	natsSubscription *audit;
	struct tk_ws env, a, ops;
};

static void
admin_open_at(struct admin *s, int hub, struct tk_ws *c, const char *token,
    const char *path)
{
	char header[256];

	(void)snprintf(
	    header, sizeof(header), "Authorization: Bearer %s\r\n", token);
	ck_assert_int_eq(
	    tk_ws_open(c, star_hub(&s->f, hub)->http, path, header), 101);
	star_expect_has(c, "{\"type\":\"heartbeat\",");
}

static void
admin_open(
    struct admin *s, struct tk_ws *c, const char *token, const char *path)
{
	admin_open_at(s, 0, c, token, path);
}

/* The operator is at the first hub, the agent at the last. */
static void
admin_start_hubs(struct admin *s, int n)
{
	const char *path = tk_path("tokens.json");
	char setting[600];

	memset(s, 0, sizeof(*s));
	tk_tokens_write(path, tokens, NELEM(tokens));
	(void)snprintf(setting, sizeof(setting), "AUTH_TOKENS=%s", path);
	star_start_hubs(&s->f, n, TK_ENV(setting));
	s->nc = tk_nats_connect(s->f.nats.url);
	tk_nats_events(s->nc);
	s->audit = tk_nats_listen(s->nc, "soul.event.audit.>");
	admin_open(s, &s->env, ALICE, "/env/demo_world");
	admin_open_at(
	    s, n - 1, &s->a, ALICE, "/env/demo_world/agent/agent_001");
	star_expect_has(&s->env, "agent_joined");
	admin_open(s, &s->ops, OPS, "/human/ops");
}

static void
admin_start(struct admin *s)
{
	admin_start_hubs(s, 1);
}

static void
admin_stop(struct admin *s)
{
	tk_ws_close(&s->env);
	tk_ws_close(&s->a);
	tk_ws_close(&s->ops);
	natsSubscription_Destroy(s->audit);
	natsConnection_Destroy(s->nc);
	star_stop(&s->f);
}

/* Send an admin command. */
static void
admin_send(struct tk_ws *c, const char *from, const char *data)
{
	char text[1024];

	(void)snprintf(text, sizeof(text),
	    "{\"type\":\"stream\",\"id\":\"k\",\"stream\":\"a\","
	    "\"stream_type\":\"admin_command\",\"data\":%s}",
	    data);
	star_send(c, from, "hub:hub", text);
}

/* The next audit event's payload; to be freed. */
static json_t *
admin_audit(struct admin *s, const char *action)
{
	char subject[TK_SUBJECT];
	json_t *j = tk_nats_next(s->audit, WAIT_MS, subject), *payload;

	ck_assert_msg(j != NULL, "no %s", action);
	payload = json_incref(json_object_get(j, "payload"));
	json_decref(j);
	ck_assert_str_eq(tk_text(payload, "action"), action);
	return payload;
}

TEST(an_operator_kicks_a_client)
{
	struct admin s;
	json_t *j;

	admin_start(&s);
	admin_send(&s.ops, OPS_IS,
	    "{\"command\":\"kick\",\"class\":\"agent\",\"env_id\":"
	    "\"demo_world\",\"id\":\"agent_001\",\"reason\":\"too loud\"}");
	star_expect_has(&s.ops,
	    "\"id\":\"k\",\"outcome\":{\"status\":"
	    "\"success\",\"hub\":\"");
	star_expect_has(&s.env, "\"event\":\"agent_left\",\"data\":{");
	ck_assert_ptr_nonnull(strstr(
	    s.env.msg.p, "\"agent_id\":\"agent_001\",\"reason\":\"kicked\"}"));
	ck_assert_uint_eq(tk_ws_end(&s.a), 1008);
	ck_assert_str_eq(s.a.reason, "disconnected by an operator: too loud");
	/* Once only, and it may connect again. */
	star_idle(&s.env, ENV);
	tk_ws_close(&s.a);
	admin_open(&s, &s.a, ALICE, "/env/demo_world/agent/agent_001");
	star_expect_has(&s.env, "agent_joined");
	j = admin_audit(&s, "client_kicked");
	ck_assert_str_eq(tk_text(j, "role"), "operator");
	ck_assert_str_eq(tk_text(j, "tenant"), "one");
	ck_assert_str_eq(tk_text(j, "caller_id"), "one/olga");
	ck_assert_str_eq(tk_text(j, "client_type"), "agent");
	ck_assert_str_eq(tk_text(j, "client_id"), "agent_001");
	ck_assert_str_eq(tk_text(j, "env_id"), "demo_world");
	ck_assert_str_eq(tk_text(j, "address"), "127.0.0.1");
	/* The operator's text is not in it. */
	ck_assert_str_eq(tk_text(j, "reason"), "admin_command");
	json_decref(j);
	admin_stop(&s);
}

TEST(an_operator_kicks_a_client_of_another_hub)
{
	struct admin s;
	struct tk_ws b;
	json_t *j;

	admin_start_hubs(&s, 2);
	admin_open_at(&s, 1, &b, ALICE, "/env/demo_world/agent/agent_002");
	star_expect_has(&s.env, "agent_joined");
	admin_send(&s.ops, OPS_IS,
	    "{\"command\":\"kick\",\"class\":\"agent\",\"env_id\":"
	    "\"demo_world\",\"id\":\"agent_001\",\"reason\":\"too loud\"}");
	star_expect_has(&s.ops, "\"status\":\"success\"");
	ck_assert_uint_eq(tk_ws_end(&s.a), 1008);
	ck_assert_str_eq(s.a.reason, "disconnected by an operator: too loud");
	star_expect_has(&s.env, "\"event\":\"agent_left\",\"data\":{");
	ck_assert_ptr_nonnull(strstr(
	    s.env.msg.p, "\"agent_id\":\"agent_001\",\"reason\":\"kicked\"}"));
	j = admin_audit(&s, "client_kicked");
	ck_assert_str_eq(tk_text(j, "caller_id"), "one/olga");
	ck_assert_str_eq(tk_text(j, "client_id"), "agent_001");
	json_decref(j);
	/* Only that one, which is nowhere now, and may connect again. */
	star_idle(&b, "agent:agent_002");
	star_send(&s.env, ENV, A, "1");
	star_expect_error(&s.env, "CONNECTION_ERROR", "target_not_found");
	admin_send(&s.ops, OPS_IS,
	    "{\"command\":\"kick\",\"class\":\"agent\",\"env_id\":"
	    "\"demo_world\",\"id\":\"agent_001\"}");
	star_expect_error(&s.ops, "CONNECTION_ERROR", "target_not_found");
	tk_ws_close(&s.a);
	admin_open(&s, &s.a, ALICE, "/env/demo_world/agent/agent_001");
	star_expect_has(&s.env, "agent_joined");
	star_send(&b, "agent:agent_002", A, "2");
	star_expect_message(&s.a, "agent:agent_002", A, "2");
	tk_ws_close(&b);
	admin_stop(&s);
}

TEST(an_environment_that_is_kicked_is_down)
{
	struct admin s;

	admin_start(&s);
	admin_send(&s.ops, OPS_IS,
	    "{\"command\":\"kick\",\"class\":\"environment\",\"id\":"
	    "\"demo_world\"}");
	star_expect_has(&s.ops, "\"status\":\"success\"");
	star_expect_has(&s.a, "\"event\":\"environment_down\"");
	ck_assert_ptr_nonnull(strstr(s.a.msg.p, "\"reason\":\"kicked\""));
	ck_assert_uint_eq(tk_ws_end(&s.env), 1008);
	ck_assert_str_eq(s.env.reason, "disconnected by an operator");
	star_idle(&s.a, A);
	admin_stop(&s);
}

TEST(what_is_no_admin_command_is_rejected)
{
	static const char *const rows[][3] = {
		{ "{}", "VALIDATION_ERROR",
		    "/payload/data/command: must be kick or drain" },
		{ "{\"command\":\"kick\"}", "VALIDATION_ERROR",
		    "/payload/data/class: must be agent, " },
		{ "{\"command\":\"kick\",\"class\":\"hub\",\"id\":\"hub\"}",
		    "VALIDATION_ERROR", "/payload/data/class: must be " },
		{ "{\"command\":\"kick\",\"class\":\"human\",\"id\":\"x\"}",
		    "VALIDATION_ERROR", "/payload/data/id: must be the id" },
		{ "{\"command\":\"kick\",\"class\":\"agent\",\"id\":"
		  "\"agent_001\"}",
		    "VALIDATION_ERROR", "/payload/data/env_id: must be " },
		{ "{\"command\":\"kick\",\"class\":\"human\",\"id\":\"bob\"}",
		    "CONNECTION_ERROR", "target_not_found" },
		/* Of another tenant. */
		{ "{\"command\":\"kick\",\"class\":\"human\",\"id\":"
		  "\"carol\"}",
		    "CONNECTION_ERROR", "target_not_found" },
		{ "{\"command\":\"drain\",\"hub\":\"another\"}",
		    "CONNECTION_ERROR", "not connected to this hub" },
	};
	struct tk_ws carol;
	struct admin s;
	size_t i;

	admin_start(&s);
	admin_open(&s, &carol, CAROL, "/human/carol");
	for (i = 0; i < NELEM(rows); i++) {
		admin_send(&s.ops, OPS_IS, rows[i][0]);
		star_expect_has(&s.ops, rows[i][1]);
		ck_assert_msg(strstr(s.ops.msg.p, rows[i][2]) != NULL, "%s: %s",
		    rows[i][0], s.ops.msg.p);
	}
	admin_send(&s.a, A, "{\"command\":\"drain\"}");
	star_expect_error(&s.a, "PERMISSION_DENIED", "permission_denied");
	star_idle(&s.a, A);
	star_idle(&carol, "human:carol");
	tk_ws_close(&carol);
	admin_stop(&s);
}

TEST(an_operator_ends_a_hub)
{
	struct admin s;
	json_t *j;

	admin_start(&s);
	admin_send(&s.ops, OPS_IS, "{\"command\":\"drain\"}");
	star_expect_has(&s.ops, "\"status\":\"success\"");
	ck_assert_uint_eq(tk_ws_end(&s.ops), 1001);
	ck_assert_uint_eq(tk_ws_end(&s.a), 1001);
	ck_assert_uint_eq(tk_ws_end(&s.env), 1001);
	j = admin_audit(&s, "hub_drained");
	ck_assert_str_eq(tk_text(j, "caller_id"), "one/olga");
	json_decref(j);
	ck_assert_int_eq(tk_wait(&s.f.hub.proc, WAIT_MS), 0);
	admin_stop(&s);
}

TEST(an_identity_that_is_taken_over_is_audited)
{
	struct admin s;
	struct tk_ws b;
	json_t *j;

	admin_start(&s);
	admin_open(&s, &b, OPS, "/env/demo_world/agent/agent_001");
	ck_assert_uint_eq(tk_ws_end(&s.a), 4409);
	j = admin_audit(&s, "client_replaced");
	ck_assert_str_eq(tk_text(j, "caller_id"), "one/olga");
	ck_assert_str_eq(tk_text(j, "user_id"), "one/alice");
	ck_assert_str_eq(tk_text(j, "client_id"), "agent_001");
	ck_assert_int_eq(tk_int(j, "count"), 1);
	json_decref(j);
	tk_ws_close(&b);
	admin_stop(&s);
}

TEST(a_rejected_token_is_audited)
{
	struct admin s;
	struct tk_ws c;
	json_t *j;

	admin_start(&s);
	/* In a handshake, and in a message. */
	ck_assert_int_eq(tk_ws_open(&c, s.f.hub.http, "/human/x01",
			     "Authorization: Bearer wrong-0123456789\r\n"),
	    401);
	tk_ws_close(&c);
	j = admin_audit(&s, "login_refused");
	ck_assert_str_eq(tk_text(j, "route"), "star");
	ck_assert_str_eq(tk_text(j, "reason"), "bad_token");
	json_decref(j);
	star_open(&s.f, &c, "/human/x01");
	tk_ws_send(&c,
	    "{\"type\":\"authenticate\",\"sender\":{\"id\":\"x01\",\"type\":"
	    "\"human\"},\"recipient\":{\"id\":\"hub\",\"type\":\"hub\"},"
	    "\"payload\":{\"token\":\"wrong\"}}");
	ck_assert_uint_eq(tk_ws_end(&c), 1008);
	j = admin_audit(&s, "login_refused");
	ck_assert_str_eq(tk_text(j, "reason"), "bad_token");
	ck_assert_str_eq(tk_text(j, "address"), "127.0.0.1");
	json_decref(j);
	tk_ws_close(&c);
	admin_stop(&s);
}
