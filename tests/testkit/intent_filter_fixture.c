/*
 * The filter in the test's own process, and as a process with plain clients.
 */
#include "testkit/intent_filter_fixture.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/catalog.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/mem.h"
#include "core/zone.h"
#include "filter.h"
#include "rx/rx.h"
#include "slots/skill_cache.h"
#include "system/alarm_phrase.h"
#include "testkit/cases.h"
#include "testkit/testkit.h"
#include "text/vocabulary.h"

/* The request of the protocol's section 4.4.1. */
#define FIXTURE_PROTOCOL "intent_filter_request", "protocol 02-22, 4.4.1"
/* The catalog of its section 3.10; the third intent moves the head. */
#define FIXTURE_REPORT "intent_catalog_report", "protocol 02-22, 3.10"

json_t *
filter_fixture_json(const char *text)
{
	json_error_t e;
	json_t *j = json_loads(text, JSON_DECODE_ANY, &e);

	ck_assert_msg(j != NULL, "%s: %s", e.text, text);
	return j;
}

enum rc
filter_fixture_try(const char *request, json_t **response, struct wire_err *err)
{
	struct wire_intent_filter_request req;
	struct wire_intent_filter_response rep;
	struct filter_env env = { .locale = "zh-CN" };
	struct vocabulary *vocabulary = vocabulary_new();
	static struct alarm_patterns *alarms; /* compiled at first use */
	struct skill_cache *skills = skill_cache_new(1);
	struct zone *zone;
	struct buf out = BUF_INIT(WIRE_MESSAGE_MAX);
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct rx_scratch *rx = rx_scratch_new();
	struct catalog *cat = NULL;
	enum rc rc;

	ck_assert_int_eq(zone_load("Asia/Shanghai", &zone), RC_OK);
	env.zone = zone;
	env.vocabulary = vocabulary;
	env.skills = skills;
	ck_assert_int_eq(
	    wall_parse(STR("2026-02-22T17:40:00+08:00"), &env.now), RC_OK);
	rc = wire_decode(
	    &wire_intent_filter_request_desc, str_of(request), a, &req, err);
	if (rc == RC_OK && req.options.enable_alarm_intents)
		env.alarms = alarms =
		    alarms != NULL ? alarms : alarm_patterns_new();
	if (rc == RC_OK && req.now.p != NULL)
		ck_assert_int_eq(wall_parse(req.now, &env.now), RC_OK);
	if (rc == RC_OK)
		rc = catalog_compile(
		    req.intent_catalog, req.n_intent_catalog, &cat, err);
	if (rc == RC_OK)
		rc = filter_run(&req, cat, &env, rx, a, &rep);
	if (rc == RC_OK) {
		rep.request_id = STR("r1");
		rep.meta.latency_ms = 0;
		rc = wire_encode(
		    &wire_intent_filter_response_desc, &rep, &out, err);
		ck_assert_msg(
		    rc == RC_OK, "response: %s: %s", err->path, err->why);
		*response = filter_fixture_json(buf_str(&out).p);
	}
	zone_free(zone);
	vocabulary_free(vocabulary);
	skill_cache_free(skills);
	buf_free(&out);
	rx_scratch_free(rx);
	catalog_free(cat);
	arena_free(a);
	return rc;
}

json_t *
filter_fixture_run(const char *request)
{
	struct wire_err err = { 0 };
	json_t *response = NULL;
	enum rc rc = filter_fixture_try(request, &response, &err);

	ck_assert_msg(
	    rc == RC_OK, "%s: %s: %s", rc_name(rc), err.path, err.why);
	return response;
}

json_t *
filter_fixture_catalog(void)
{
	json_t *request = tk_case_data(FIXTURE_PROTOCOL);
	json_t *report = tk_case_data(FIXTURE_REPORT);
	json_t *seed = json_incref(json_object_get(request, "intent_catalog"));
	json_t *head =
	    json_array_get(json_object_get(report, "intent_catalog"), 2);

	ck_assert_ptr_nonnull(head);
	json_array_append(seed, head);
	json_decref(request);
	json_decref(report);
	return seed;
}

json_t *
filter_fixture_command(json_t *intents, const char *command)
{
	json_t *request = json_pack("{s:s, s:o, s:{s:i}}", "command", command,
	    "intent_catalog", intents, "options", "max_intents_per_segment", 1);
	char *text = json_dumps(request, 0);
	json_t *response = filter_fixture_run(text);

	free(text);
	json_decref(request);
	return response;
}

const char *
filter_fixture_action(const json_t *response)
{
	return json_string_value(
	    json_object_get(json_object_get(response, "decision"), "action"));
}

json_t *
filter_fixture_intent(const json_t *response, size_t i, const char *key)
{
	return json_object_get(
	    json_array_get(json_object_get(response, "intents"), i), key);
}

void
filter_fixture_equal(
    const json_t *value, const char *expected, const char *what)
{
	json_t *want = filter_fixture_json(expected);
	char *got = json_dumps(value, JSON_ENCODE_ANY | JSON_SORT_KEYS);

	ck_assert_msg(json_equal(value, want), "%s: got %s, wanted %s", what,
	    got != NULL ? got : "nothing", expected);
	free(got);
	json_decref(want);
}

void
filter_fixture_check_protocol(const json_t *r)
{
	ck_assert_str_eq(filter_fixture_action(r), "execute_intents");
	ck_assert_uint_eq(json_array_size(json_object_get(r, "intents")), 2);
	filter_fixture_equal(filter_fixture_intent(r, 0, "span"),
	    "{\"text\":\"把灯变成绿色\",\"start\":0,\"end\":6}", "span 0");
	filter_fixture_equal(filter_fixture_intent(r, 1, "span"),
	    "{\"text\":\"10分钟后提醒我\",\"start\":8,\"end\":16}", "span 1");
	filter_fixture_equal(filter_fixture_intent(r, 0, "parameters"),
	    "{\"mode\":\"set_color\",\"color\":\"green\"}", "parameters 0");
	filter_fixture_equal(filter_fixture_intent(r, 0, "normalized"),
	    "{\"skill\":\"control_light\",\"mode\":\"set_color\","
	    "\"color\":\"green\"}",
	    "normalized 0");
	filter_fixture_equal(filter_fixture_intent(r, 1, "parameters"),
	    "{\"trigger_in_seconds\":600,\"label\":\"提醒事项\"}",
	    "parameters 1");
	filter_fixture_equal(filter_fixture_intent(r, 1, "normalized"),
	    "{\"skill\":\"create_alarm\",\"trigger_in_seconds\":600,"
	    "\"label\":\"提醒事项\"}",
	    "normalized 1");
}

/* ---- as a process ---- */

static size_t
filter_fixture_on_body(char *p, size_t size, size_t n, void *arg)
{
	struct filter_response *a = arg;

	a->body = mem_realloc(a->body, a->n + n + 1);
	memcpy(a->body + a->n, p, n);
	a->n += n;
	a->body[a->n] = '\0';
	return size * n;
}

struct filter_response
filter_fixture_http(int port, const char *path, const char *body)
{
	struct filter_response a = { 0, mem_zalloc(1), 0 };
	struct curl_slist *h =
	    curl_slist_append(NULL, "Content-Type: application/json");
	CURL *c = curl_easy_init();
	char url[128];

	snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", port, path);
	curl_easy_setopt(c, CURLOPT_URL, url);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, filter_fixture_on_body);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, &a);
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, 10000L);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	if (body != NULL) {
		curl_easy_setopt(c, CURLOPT_HTTPHEADER, h);
		curl_easy_setopt(c, CURLOPT_POSTFIELDS, body);
	}
	if (curl_easy_perform(c) == CURLE_OK)
		curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &a.status);
	curl_easy_cleanup(c);
	curl_slist_free_all(h);
	return a;
}

void
filter_response_free(struct filter_response *a)
{
	free(a->body);
	a->body = NULL;
}

bool
filter_fixture_status_is(int port, const char *path, long status)
{
	struct filter_response a = filter_fixture_http(port, path, NULL);
	bool is = a.status == status;

	filter_response_free(&a);
	return is;
}

void
filter_fixture_spawn(
    struct filter_fixture *r, const char *name, const char *nats_url)
{
	struct tk_env e = { 0 };

	tk_env_put(&e, "NATS_URL=%s", nats_url);
	tk_env_put(&e, "REDIS_URL=%s", r->redis != NULL ? r->redis : "");
	if (r->redis_ms > 0)
		tk_env_put(&e, "REDIS_TIMEOUT_MS=%d", r->redis_ms);
	tk_service_spawn(&r->s, "intent-filter", name, &e);
}

void
filter_fixture_start(
    struct filter_fixture *r, const char *name, const char *nats_url)
{
	filter_fixture_spawn(r, name, nats_url);
	tk_service_wait(&r->s);
}

natsConnection *
filter_fixture_nats(const char *url)
{
	natsConnection *nc = NULL;

	if (natsConnection_ConnectTo(&nc, url) != NATS_OK)
		return NULL;
	return nc;
}

const char *
filter_fixture_protocol(void)
{
	static char text[8192];

	if (text[0] == '\0') {
		json_t *request = tk_case_data(FIXTURE_PROTOCOL);
		char *file = json_dumps(request, 0);

		json_decref(request);
		snprintf(text, sizeof(text), "%s", file);
		free(file);
	}
	return text;
}
