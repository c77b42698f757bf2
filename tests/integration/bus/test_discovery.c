/*
 * $SRV.PING, INFO and STATS as the NATS tools request them.
 */
#include <stdio.h>

#include "bus/discovery.h"
#include "testkit/bus_fixture.h"
#include "testkit/nats.h"

static struct bus_endpoint endpoints[] = {
	{ .name = "filter",
	    .subject = "soul.rpc.intent.filter",
	    .queue = "intent-filter" },
	{ .name = "cancel", .subject = "soul.rpc.turn.cancel.*", .queue = "q" },
};

static struct bus_service service = { .name = "intent-filter",
	.version = "1.2.3",
	.description = "finds \"intents\"",
	.endpoints = endpoints,
	.n = 2 };

static void
check_identity(const json_t *o, const char *type)
{
	const char *id = json_string_value(json_object_get(o, "id"));

	bus_fixture_check_text(o, "type", type);
	bus_fixture_check_text(o, "name", "intent-filter");
	bus_fixture_check_text(o, "version", "1.2.3");
	ck_assert(json_is_object(json_object_get(o, "metadata")));
	ck_assert_ptr_nonnull(id);
	ck_assert_uint_eq(strlen(id), 32);
}

static void
check_ping(const json_t *o)
{
	check_identity(o, "io.nats.micro.v1.ping_response");
	ck_assert_uint_eq(json_object_size(o), 5);
}

static void
check_info(const json_t *o)
{
	const json_t *list = json_object_get(o, "endpoints"), *one;
	size_t i;

	check_identity(o, "io.nats.micro.v1.info_response");
	bus_fixture_check_text(o, "description", "finds \"intents\"");
	ck_assert_uint_eq(json_array_size(list), 2);
	for (i = 0; i < 2; i++) {
		one = json_array_get(list, i);
		bus_fixture_check_text(one, "name", endpoints[i].name);
		bus_fixture_check_text(one, "subject", endpoints[i].subject);
		bus_fixture_check_text(one, "queue_group", endpoints[i].queue);
		ck_assert(json_is_object(json_object_get(one, "metadata")));
	}
}

static void
check_stats(const json_t *o)
{
	const json_t *list = json_object_get(o, "endpoints"), *one;
	struct wall started;
	size_t i;

	check_identity(o, "io.nats.micro.v1.stats_response");
	ck_assert_int_eq(
	    wall_parse(str_of(json_string_value(json_object_get(o, "started"))),
		&started),
	    RC_OK);
	ck_assert_int_le(started.ms, clock_wall().ms);
	ck_assert_int_ge(started.ms, clock_wall().ms - 60000);
	ck_assert_uint_eq(json_array_size(list), 2);
	for (i = 0; i < 2; i++) {
		one = json_array_get(list, i);
		bus_fixture_check_text(one, "name", endpoints[i].name);
		bus_fixture_check_text(one, "subject", endpoints[i].subject);
		bus_fixture_check_text(one, "queue_group", endpoints[i].queue);
		bus_fixture_check_text(
		    one, "last_error", endpoints[i].last_error);
		bus_fixture_check_int(
		    one, "num_requests", endpoints[i].requests);
		bus_fixture_check_int(one, "num_errors", endpoints[i].errors);
		bus_fixture_check_int(
		    one, "processing_time", endpoints[i].busy_ns);
		bus_fixture_check_int(one, "average_processing_time",
		    endpoints[i].requests > 0
			? endpoints[i].busy_ns / endpoints[i].requests
			: 0);
	}
}

TEST(three_verbs_reply_in_three_subject_forms)
{
	static const struct {
		const char *verb;
		void (*check)(const json_t *o);
	} verbs[] = { { "PING", check_ping }, { "INFO", check_info },
		{ "STATS", check_stats } };
	struct bus_fixture e;
	json_t *o;
	char subject[160], id[33];
	size_t i;

	endpoints[0].requests = 3;
	endpoints[0].errors = 1;
	endpoints[0].busy_ns = 5100001;
	str_copy(STR("it \"broke\""), endpoints[0].last_error,
	    sizeof(endpoints[0].last_error));
	bus_fixture_start(&e);
	ck_assert_int_eq(bus_announce(e.bus, &service), RC_OK);
	o = bus_fixture_request_json(&e, "$SRV.PING", "");
	snprintf(
	    id, sizeof(id), "%s", json_string_value(json_object_get(o, "id")));
	json_decref(o);
	for (i = 0; i < 3; i++) {
		snprintf(subject, sizeof(subject), "$SRV.%s", verbs[i].verb);
		o = bus_fixture_request_json(&e, subject, "");
		verbs[i].check(o);
		json_decref(o);
		snprintf(subject, sizeof(subject), "$SRV.%s.intent-filter",
		    verbs[i].verb);
		o = bus_fixture_request_json(&e, subject, "");
		verbs[i].check(o);
		json_decref(o);
		snprintf(subject, sizeof(subject), "$SRV.%s.intent-filter.%s",
		    verbs[i].verb, id);
		o = bus_fixture_request_json(&e, subject, "");
		verbs[i].check(o);
		bus_fixture_check_text(o, "id", id);
		json_decref(o);
	}
	bus_fixture_stop(&e);
}

/* Publish a request with the reply subject reply. */
static void
request_from_all(struct bus_fixture *e, const char *subject, const char *reply)
{
	natsConnection *nc = tk_nats_connect(e->nats.url);

	ck_assert_int_eq(
	    natsConnection_PublishRequest(nc, subject, reply, "", 0), NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(nc), NATS_OK);
	natsConnection_Destroy(nc);
}

static void
on_any_reply(void *arg, struct bus_msg *m)
{
	++*(int *)arg;
	bus_msg_free(m);
}

static bool
has_two_replies(void *arg)
{
	return *(int *)arg == 2;
}

TEST(only_instances_of_the_service_reply)
{
	struct bus_fixture e;
	struct bus *second;
	struct bus_fixture_reply a;
	int n = 0;
	json_t *o;

	bus_fixture_start(&e);
	second = bus_fixture_bus(&e, "second");
	ck_assert_int_eq(bus_announce(e.bus, &service), RC_OK);
	ck_assert_int_eq(bus_announce(second, &service), RC_OK);
	bus_fixture_serve(e.bus, "inbox.x", on_any_reply, &n);
	ck_assert_int_eq(
	    bus_fixture_call(&e, second, "t.unserved", "", &a), RC_NOENT);
	/* As the tools do: one request, a reply of every instance. */
	request_from_all(&e, "$SRV.PING", "inbox.x");
	BUS_FIXTURE_WAIT(&e, has_two_replies, &n);
	ck_assert_int_eq(
	    bus_fixture_call(&e, e.bus, "$SRV.PING.other", "", &a), RC_NOENT);
	/* The same after a restart of the server. */
	tk_server_stop(&e.nats, SIGKILL);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_down, e.bus);
	tk_server_restart(&e.nats);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_up, e.bus);
	o = bus_fixture_request_json(&e, "$SRV.INFO.intent-filter", "");
	check_info(o);
	json_decref(o);
	bus_free(second);
	bus_fixture_stop(&e);
}

TEST(a_service_that_nats_tools_ignore_is_rejected)
{
	static struct bus_endpoint bad_name[] = {
		{ .name = "a b", .subject = "a", .queue = "q" }
	};
	static struct bus_endpoint bad_subject[] = {
		{ .name = "a", .subject = "a b", .queue = "q" }
	};
	struct bus_service s = service;
	struct bus_fixture e;

	bus_fixture_start(&e);
	s.name = "intent.filter";
	ck_assert_int_eq(bus_announce(e.bus, &s), RC_INVALID);
	s = service;
	s.version = NULL;
	ck_assert_int_eq(bus_announce(e.bus, &s), RC_INVALID);
	s = service;
	s.n = 1;
	s.endpoints = bad_name;
	ck_assert_int_eq(bus_announce(e.bus, &s), RC_INVALID);
	s.endpoints = bad_subject;
	ck_assert_int_eq(bus_announce(e.bus, &s), RC_INVALID);
	bus_fixture_stop(&e);
}
