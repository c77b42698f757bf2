/*
 * A skill tried by hand: a peer of the test stands in for the bridge, the
 * device and emotion-engine.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/gateway_fixture.h"

#define PATH "/v1/terminals/t1/invoke"
#define LIGHT                                                         \
	"[{\"name\":\"light\",\"input_schema\":{\"type\":\"object\"," \
	"\"properties\":{\"color\":{\"enum\":[\"red\",\"green\"]}},"  \
	"\"required\":[\"color\"]}},{\"name\":\"nod\","               \
	"\"input_schema\":{\"type\":\"object\",\"properties\":{}}}]"

static struct gateway_fixture b;
static struct tk_response a;
static natsSubscription *gate, *bridge;
static const char *exec_mode; /* of the soul */
static const char *delivery;  /* the bridge's reply */
static const char *result;    /* the device's, after "request_id"; or NULL */
static char command[1024];    /* the last one */
static _Atomic int commands;

static void
publish_reply(natsConnection *nc, natsMsg *m, const char *text)
{
	ck_assert_int_eq(
	    natsConnection_PublishString(nc, natsMsg_GetReply(m), text),
	    NATS_OK);
	natsMsg_Destroy(m);
}

static void
on_gate(natsConnection *nc, natsSubscription *s, natsMsg *m, void *arg)
{
	char text[256];

	(void)s;
	(void)arg;
	snprintf(text, sizeof(text),
	    "{\"soul_id\":\"s\",\"soul_emotion\":{\"p\":0,\"a\":0,\"d\":0},"
	    "\"exec_probability\":0.5,\"exec_mode\":\"%s\",\"version\":1}",
	    exec_mode);
	publish_reply(nc, m, text);
}

static void
on_command(natsConnection *nc, natsSubscription *s, natsMsg *m, void *arg)
{
	char id[64], subject[128], text[256];
	const char *at;

	(void)s;
	(void)arg;
	snprintf(command, sizeof(command), "%.*s", natsMsg_GetDataLength(m),
	    natsMsg_GetData(m));
	commands++;
	at = strstr(command, "\"request_id\":\"");
	ck_assert_ptr_nonnull(at);
	snprintf(id, sizeof(id), "%.36s", at + strlen("\"request_id\":\""));
	if (result != NULL) {
		snprintf(subject, sizeof(subject), "soul.result.t1.%s", id);
		snprintf(text, sizeof(text), "{\"request_id\":\"%s\",%s}", id,
		    result);
		/* Twice, and before its delivery is known. */
		natsConnection_PublishString(nc, subject, text);
		natsConnection_PublishString(nc, subject, text);
	}
	publish_reply(nc, m, delivery);
}

static void
start(void)
{
	char soul[GW_SOUL_ID];

	exec_mode = "auto_execute";
	delivery = "{\"state\":\"delivered\"}";
	result = NULL;
	commands = 0;
	gateway_fixture_start_alone(&b, NULL);
	ck_assert_int_eq(natsConnection_Subscribe(&gate, b.nc,
			     "soul.rpc.emotion.state", on_gate, NULL),
	    NATS_OK);
	ck_assert_int_eq(natsConnection_Subscribe(&bridge, b.nc,
			     "soul.body.*.t1.invoke", on_command, NULL),
	    NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(b.nc), NATS_OK);
	gw_online(&b, "t1", true);
	gw_report_skills(&b, "t1", LIGHT, NULL);
	gw_soul(&b, "ann", "Luna", soul);
	gw_bind_ok(&b, "ann", "t1", soul);
}

static void
stop(void)
{
	natsSubscription_Destroy(gate);
	natsSubscription_Destroy(bridge);
	tk_response_free(&a);
	gateway_fixture_stop(&b);
}

/* The outcome, and the error if there is one, as "outcome: error". */
static void
check(const char *more, const char *want)
{
	char body[256], got[256];

	snprintf(body, sizeof(body), "{\"user_id\":\"ann\",%s}", more);
	json_t *j = gw_json(&b, "POST", PATH, body);
	const char *error = json_string_value(json_object_get(j, "error"));

	snprintf(got, sizeof(got), "%s%s%s",
	    json_string_value(json_object_get(j, "outcome")),
	    error != NULL ? ": " : "", error != NULL ? error : "");
	ck_assert_str_eq(got, want);
	ck_assert_str_eq(
	    json_string_value(json_object_get(j, "terminal_id")), "t1");
	json_decref(j);
}

TEST(the_outcome_is_what_the_device_reports)
{
	start();
	result = "\"ok\":true,\"output\":\"is red\"";
	check("\"skill\":\"light\",\"arguments\":{\"color\":\"red\"}", "ok");
	ck_assert_ptr_nonnull(
	    strstr(command, "\"arguments\":{\"color\":\"red\"}"));
	result = "\"ok\":false,\"error\":\"stuck\"";
	check("\"skill\":\"nod\"", "error: stuck");
	ck_assert_ptr_nonnull(strstr(command, "\"arguments\":{}"));
	ck_assert_int_eq(commands, 2);
	stop();
}

TEST(what_is_not_confirmed_is_reported_as_that)
{
	start();
	check("\"skill\":\"nod\",\"timeout_ms\":100",
	    "not_confirmed: the device sent no result in time");
	delivery = "{\"state\":\"no_subscriber\"}";
	check("\"skill\":\"nod\"",
	    "not_delivered: the command did not reach the device");
	ck_assert_int_eq(commands, 2);
	/* No bridge. */
	natsSubscription_Unsubscribe(bridge);
	ck_assert_int_eq(natsConnection_Flush(b.nc), NATS_OK);
	check("\"skill\":\"nod\"",
	    "not_delivered: the command did not reach the device");
	/* An absent device gets no command. */
	gw_online(&b, "t1", false);
	check("\"skill\":\"nod\"",
	    "not_delivered: the command did not reach the device");
	ck_assert_int_eq(commands, 2);
	stop();
}

TEST(what_the_device_cannot_do_is_not_sent)
{
	start();
	gw_rejects(&b, "POST", PATH, "{\"user_id\":\"ann\",\"skill\":\"fly\"}",
	    400, "skill: the device has not reported it");
	gw_rejects(&b, "POST", PATH,
	    "{\"user_id\":\"ann\",\"skill\":\"light\","
	    "\"arguments\":{\"color\":\"blue\"}}",
	    400, "arguments: /color must be one of red, green");
	gw_rejects(&b, "POST", PATH, "{\"user_id\":\"bob\",\"skill\":\"nod\"}",
	    404, "terminal not found");
	gw_rejects(&b, "POST", "/v1/terminals/t2/invoke",
	    "{\"user_id\":\"ann\",\"skill\":\"nod\"}", 404,
	    "terminal not found");
	ck_assert_int_eq(commands, 0);
	stop();
}

TEST(a_blocked_soul_does_nothing_unless_it_is_forced)
{
	start();
	exec_mode = "blocked";
	result = "\"ok\":true";
	gw_rejects(&b, "POST", PATH, "{\"user_id\":\"ann\",\"skill\":\"nod\"}",
	    409, "the soul's execution gate is blocked");
	ck_assert_int_eq(commands, 0);
	check("\"skill\":\"nod\",\"force\":true", "ok");
	natsSubscription_Unsubscribe(gate);
	ck_assert_int_eq(natsConnection_Flush(b.nc), NATS_OK);
	gw_rejects(&b, "POST", PATH, "{\"user_id\":\"ann\",\"skill\":\"nod\"}",
	    503, "emotion-engine does not answer");
	ck_assert_int_eq(commands, 1);
	stop();
}
