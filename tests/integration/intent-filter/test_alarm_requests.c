/*
 * Commands to alarms over HTTP: in the zone and at the time of each request,
 * also if the command was matched before, and only with the option.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "testkit/intent_filter_fixture.h"
#include "testkit/testkit.h"

#define CATALOG                                                         \
	"[{\"id\":\"light\",\"match\":{\"keywords_any\":[\"关灯\"]}," \
	"\"slots\":[{\"name\":\"skill\",\"default\":\"control_light\"}]}]"

/* The first intent's normalized; the caller's reference. */
static json_t *
alarm_request(int port, const char *command, const char *now, const char *zone,
    bool enabled)
{
	json_t *request = json_pack("{s:s, s:o, s:s, s:s, s:{s:b}}", "command",
	    command, "intent_catalog", filter_fixture_json(CATALOG), "now", now,
	    "timezone", zone, "options", "enable_alarm_intents", enabled);
	char *text = json_dumps(request, JSON_COMPACT);
	struct filter_response r =
	    filter_fixture_http(port, "/v1/intents/filter", text);
	json_t *reply, *normalized;

	ck_assert_int_eq(r.status, 200);
	reply = filter_fixture_json(r.body);
	normalized = json_incref(filter_fixture_intent(reply, 0, "normalized"));
	json_decref(reply);
	json_decref(request);
	filter_response_free(&r);
	free(text);
	return normalized;
}

static void
alarm_check(int port, const char *command, const char *now, const char *zone,
    const char *rule)
{
	json_t *got = alarm_request(port, command, now, zone, true);

	filter_fixture_equal(json_object_get(got, "rule"), rule, command);
	json_decref(got);
}

#define SHANGHAI "2026-11-27T14:40:00+08:00"
#define NEW_YORK "2026-11-27T01:40:00-05:00"

TEST(alarms_are_of_the_zone_and_time_of_a_request)
{
	struct tk_server nats;
	struct filter_fixture r = { .redis = NULL };
	json_t *off;
	int i;

	tk_server_start(&nats, TK_NATS);
	filter_fixture_start(&r, "filter", nats.url);
	/* A repeated command has a stored result, which is of one time. */
	for (i = 0; i < 3; i++) {
		alarm_check(r.s.http, "明天早上八点叫我", SHANGHAI,
		    "Asia/Shanghai",
		    "{\"kind\":\"once\",\"at\":\"08:00\",\"date\":"
		    "\"2026-11-28\",\"every\":1,\"leap\":false}");
		alarm_check(r.s.http, "10分钟后关灯", SHANGHAI, "Asia/Shanghai",
		    "{\"kind\":\"once\",\"instant\":"
		    "\"2026-11-27T14:50:00+08:00\",\"every\":1,\"leap\":"
		    "false}");
		alarm_check(r.s.http, "10分钟后关灯", NEW_YORK,
		    "America/New_York",
		    "{\"kind\":\"once\",\"instant\":"
		    "\"2026-11-27T01:50:00-05:00\",\"every\":1,\"leap\":"
		    "false}");
		alarm_check(r.s.http, "今天早上八点叫我", NEW_YORK,
		    "America/New_York",
		    "{\"kind\":\"once\",\"at\":\"08:00\",\"date\":"
		    "\"2026-11-27\",\"every\":1,\"leap\":false}");
		off = alarm_request(
		    r.s.http, "10分钟后关灯", SHANGHAI, "Asia/Shanghai", false);
		ck_assert_ptr_null(json_object_get(off, "rule"));
		json_decref(off);
	}
	tk_service_end(&r.s);
	tk_server_stop(&nats, SIGTERM);
}
