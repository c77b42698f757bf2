/*
 * The interfaces of the service: HTTP, NATS, discovery, admin port, CLI.
 */
#include <signal.h>
#include <time.h>

#include "testkit/intent_filter_fixture.h"
#include "testkit/testkit.h"

static void
interface_check_response(const char *text)
{
	json_t *r = filter_fixture_json(text);

	filter_fixture_equal(
	    json_object_get(r, "request_id"), "\"optional\"", "id");
	filter_fixture_check_protocol(r);
	json_decref(r);
}

TEST(http_replies_to_the_protocols_request)
{
	struct tk_server nats;
	struct filter_fixture r = { 0 };
	struct filter_response a;

	tk_server_start(&nats, TK_NATS);
	filter_fixture_start(&r, "filter", nats.url);
	a = filter_fixture_http(
	    r.s.http, "/v1/intents/filter", filter_fixture_protocol());
	ck_assert_int_eq(a.status, 200);
	interface_check_response(a.body);
	filter_response_free(&a);
	tk_service_end(&r.s);
	tk_server_stop(&nats, SIGTERM);
}

static natsMsg *
interface_request(natsConnection *nc, const char *body, const char *deadline)
{
	natsMsg *msg = NULL, *reply = NULL;
	natsStatus s;

	ck_assert_int_eq(natsMsg_Create(&msg, FILTER_FIXTURE_SUBJECT, NULL,
			     body, (int)strlen(body)),
	    NATS_OK);
	if (deadline != NULL)
		ck_assert_int_eq(
		    natsMsgHeader_Set(msg, "Soul-Deadline", deadline), NATS_OK);
	s = natsConnection_RequestMsg(&reply, nc, msg, 10000);
	natsMsg_Destroy(msg);
	ck_assert_msg(s == NATS_OK, "request: %s", natsStatus_GetText(s));
	return reply;
}

static const char *
interface_error_code(natsMsg *m)
{
	const char *code = NULL;

	if (natsMsgHeader_Get(m, "Nats-Service-Error-Code", &code) != NATS_OK)
		return "";
	return code;
}

TEST(nats_replies_to_the_protocols_request)
{
	struct tk_server nats;
	struct filter_fixture r = { 0 };
	natsConnection *nc;
	natsMsg *m;

	tk_server_start(&nats, TK_NATS);
	filter_fixture_start(&r, "filter", nats.url);
	nc = filter_fixture_nats(nats.url);
	ck_assert_ptr_nonnull(nc);

	m = interface_request(nc, filter_fixture_protocol(), NULL);
	ck_assert_str_eq(interface_error_code(m), "");
	interface_check_response(natsMsg_GetData(m));
	natsMsg_Destroy(m);

	m = interface_request(nc, "{\"command\":\"x\"}", NULL);
	ck_assert_str_eq(interface_error_code(m), "400");
	ck_assert_ptr_nonnull(
	    strstr(natsMsg_GetData(m), "\"/intent_catalog: "));
	natsMsg_Destroy(m);

	/* A request after its deadline is rejected. */
	m = interface_request(nc, filter_fixture_protocol(), "1000");
	ck_assert_str_eq(interface_error_code(m), "504");
	natsMsg_Destroy(m);

	natsConnection_Destroy(nc);
	tk_service_end(&r.s);
	tk_server_stop(&nats, SIGTERM);
	nats_Close();
}

/* Bad HTTP requests, and the responses. */
static const struct {
	const char *path, *body; /* NULL: GET */
	long status;
	const char *error; /* part of it */
} bad_requests[] = {
	{ "/v1/intents/filter", "{", 400, "ends too early" },
	{ "/v1/intents/filter", "[]", 400, "must be an object" },
	{ "/v1/intents/filter", "{\"command\":\"x\",\"intent_catalog\":[]}",
	    400, "/intent_catalog: " },
	{ "/v1/intents/filter",
	    "{\"command\":\"\",\"intent_catalog\":[{\"id\":\"a\"}]}", 400,
	    "/command: " },
	{ "/v1/intents/filter",
	    "{\"command\":\"x\",\"intent_catalog\":[{\"id\":\"a\",\"slots\":"
	    "[{\"name\":\"s\",\"regex\":\"(\"}]}]}",
	    400, "/intent_catalog/0/slots/0/regex: " },
	{ "/v1/intents/filter",
	    "{\"command\":\"x\",\"intent_catalog\":[{\"id\":\"a\"},"
	    "{\"id\":\"a\"}]}",
	    400, "/intent_catalog/1/id: " },
	{ "/v1/intents/filter", NULL, 405, "" },
	{ "/v1/intents", "{}", 404, "" },
	{ "/", NULL, 404, "" },
};

TEST(bad_requests_get_an_error_text)
{
	struct tk_server nats;
	struct filter_fixture r = { 0 };
	size_t i;

	tk_server_start(&nats, TK_NATS);
	filter_fixture_start(&r, "filter", nats.url);
	for (i = 0; i < sizeof(bad_requests) / sizeof(bad_requests[0]); i++) {
		struct filter_response a = filter_fixture_http(
		    r.s.http, bad_requests[i].path, bad_requests[i].body);
		json_t *j = filter_fixture_json(a.body);

		ck_assert_msg(a.status == bad_requests[i].status,
		    "case %zu: %ld: %s", i, a.status, a.body);
		ck_assert_msg(
		    strstr(json_string_value(json_object_get(j, "error")),
			bad_requests[i].error) != NULL,
		    "case %zu: %s", i, a.body);
		ck_assert_uint_eq(
		    json_string_length(json_object_get(j, "trace_id")), 32);
		ck_assert(json_is_string(json_object_get(j, "code")));
		json_decref(j);
		filter_response_free(&a);
	}
	tk_service_end(&r.s);
	tk_server_stop(&nats, SIGTERM);
}

TEST(discovery_lists_the_service)
{
	struct tk_server nats;
	struct filter_fixture r = { 0 };
	natsConnection *nc;
	natsMsg *m = NULL;
	json_t *j;

	tk_server_start(&nats, TK_NATS);
	filter_fixture_start(&r, "filter", nats.url);
	nc = filter_fixture_nats(nats.url);
	m = interface_request(nc, filter_fixture_protocol(), NULL);
	natsMsg_Destroy(m);
	ck_assert_int_eq(natsConnection_RequestString(
			     &m, nc, "$SRV.INFO.intent-filter", "", 5000),
	    NATS_OK);
	j = filter_fixture_json(natsMsg_GetData(m));
	filter_fixture_equal(json_object_get(j, "type"),
	    "\"io.nats.micro.v1.info_response\"", "type");
	filter_fixture_equal(
	    json_object_get(j, "name"), "\"intent-filter\"", "name");
	filter_fixture_equal(
	    json_object_get(
		json_array_get(json_object_get(j, "endpoints"), 0), "subject"),
	    "\"" FILTER_FIXTURE_SUBJECT "\"", "subject");
	json_decref(j);
	natsMsg_Destroy(m);

	ck_assert_int_eq(
	    natsConnection_RequestString(&m, nc, "$SRV.STATS", "", 5000),
	    NATS_OK);
	j = filter_fixture_json(natsMsg_GetData(m));
	filter_fixture_equal(
	    json_object_get(json_array_get(json_object_get(j, "endpoints"), 0),
		"num_requests"),
	    "1", "num_requests");
	json_decref(j);
	natsMsg_Destroy(m);
	natsConnection_Destroy(nc);
	tk_service_end(&r.s);
	tk_server_stop(&nats, SIGTERM);
	nats_Close();
}

TEST(metrics_pass_promtool)
{
	struct tk_server nats;
	struct filter_fixture r = { 0 };
	struct tk_proc promtool;
	struct filter_response a;
	char command[512];
	const char *argv[] = { "sh", "-c", command, NULL };

	tk_server_start(&nats, TK_NATS);
	filter_fixture_start(&r, "filter", nats.url);
	a = filter_fixture_http(
	    r.s.http, "/v1/intents/filter", filter_fixture_protocol());
	filter_response_free(&a);
	a = filter_fixture_http(r.s.admin, "/metrics", NULL);
	ck_assert_int_eq(a.status, 200);
	ck_assert_ptr_nonnull(strstr(
	    a.body, "soul_requests_total{route=\"filter\",code=\"ok\"} 1\n"));
	tk_write_file(tk_path("metrics"), a.body);
	filter_response_free(&a);
	snprintf(command, sizeof(command), "promtool check metrics <%s",
	    tk_path("metrics"));
	tk_spawn(&promtool, "promtool", argv, NULL);
	ck_assert_int_eq(tk_wait(&promtool, 10000), 0);
	tk_service_end(&r.s);
	tk_server_stop(&nats, SIGTERM);
}

/* Arguments, and their exit codes. */
static const struct {
	const char *arg, *env;
	int code;
	const char *output;
} arguments[] = {
	{ "--help", NULL, 0, "INTENT_FILTER_DEFAULT_TIMEZONE" },
	{ "--version", NULL, 0, "intent-filter 0." },
	{ "--routes", NULL, 0, "http  POST /v1/intents/filter" },
	{ "--check-config", NULL, 0, "" },
	{ "--print-config", "NATS_PASSWORD=hush", 0, "NATS_PASSWORD=***" },
	{ "--print-config", "HTTP_WORKERS=few", 78, "HTTP_WORKERS" },
	{ "--check-config", "LOG_LEVEL=loud", 78, "LOG_LEVEL" },
	{ "--nonsense", NULL, 64, "--help" },
};

TEST(arguments_give_the_documented_exit_code)
{
	size_t i;

	for (i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
		const char *argv[] = { tk_bin("intent-filter"),
			arguments[i].arg, NULL };
		const char *env[] = { arguments[i].env, NULL };
		struct tk_proc p;
		char name[16];

		snprintf(name, sizeof(name), "args%zu", i);
		tk_spawn(&p, name, argv, env);
		ck_assert_int_eq(tk_wait(&p, 10000), arguments[i].code);
		ck_assert_msg(tk_log_has(&p, arguments[i].output), "%s: no %s",
		    arguments[i].arg, arguments[i].output);
	}
}

TEST(a_port_in_use_is_reported)
{
	struct tk_server nats;
	struct filter_fixture r = { 0 }, second = { 0 };

	tk_server_start(&nats, TK_NATS);
	filter_fixture_start(&r, "filter", nats.url);
	second.s.http = r.s.http;
	filter_fixture_spawn(&second, "second", nats.url);
	ck_assert_int_eq(tk_wait(&second.s.proc, 10000), 69);
	tk_service_end(&r.s);
	tk_server_stop(&nats, SIGTERM);
}
