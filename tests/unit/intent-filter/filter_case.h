/*
 * filter_case: one request through the whole filter, JSON in and JSON out.
 */
#ifndef FILTER_CASE_H
#define FILTER_CASE_H

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cache.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/zone.h"
#include "filter.h"
#include "rx/rx.h"
#include "speech.h"
#include "testkit/cases.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

/* The request of the protocol's section 4.4.1. */
#define CASE_PROTOCOL "intent_filter_request", "protocol 02-22, 4.4.1"
/* The catalog of its section 3.10; the third intent moves the head. */
#define CASE_REPORT "intent_catalog_report", "protocol 02-22, 3.10"

static inline json_t *
case_json(const char *text)
{
	json_error_t e;
	json_t *j = json_loads(text, JSON_DECODE_ANY, &e);

	ck_assert_msg(j != NULL, "%s: %s", e.text, text);
	return j;
}

/*
 * The answer to a request, or the failure; said at 2026-02-22T17:40:00+08:00
 * where it names no time.
 */
static inline enum rc
case_try(const char *request, json_t **answer, struct wire_err *err)
{
	struct wire_intent_filter_request req;
	struct wire_intent_filter_response rep;
	struct filter_env env = { .locale = "zh-CN" };
	struct speech *speech = speech_new();
	struct zone *zone;
	struct buf out = BUF_INIT(WIRE_MESSAGE_MAX);
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct rx_scratch *rx = rx_scratch_new();
	struct catalog *cat = NULL;
	enum rc rc;

	ck_assert_int_eq(zone_load("Asia/Shanghai", &zone), RC_OK);
	env.zone = zone;
	env.speech = speech;
	ck_assert_int_eq(
	    wall_parse(STR("2026-02-22T17:40:00+08:00"), &env.now), RC_OK);
	rc = wire_decode(
	    &wire_intent_filter_request_desc, str_of(request), a, &req, err);
	if (rc == RC_OK && req.now.p != NULL)
		ck_assert_int_eq(wall_parse(req.now, &env.now), RC_OK);
	if (rc == RC_OK)
		rc = cache_compile(
		    req.intent_catalog, req.n_intent_catalog, &cat, err);
	if (rc == RC_OK)
		rc = filter_run(&req, cat, &env, rx, a, &rep);
	if (rc == RC_OK) {
		rep.request_id = STR("r1");
		rep.meta.latency_ms = 0;
		rc = wire_encode(
		    &wire_intent_filter_response_desc, &rep, &out, err);
		ck_assert_msg(
		    rc == RC_OK, "answer: %s: %s", err->path, err->why);
		*answer = case_json(buf_str(&out).p);
	}
	zone_free(zone);
	speech_free(speech);
	buf_free(&out);
	rx_scratch_free(rx);
	catalog_free(cat);
	arena_free(a);
	return rc;
}

static inline json_t *
case_run(const char *request)
{
	struct wire_err err = { 0 };
	json_t *answer = NULL;
	enum rc rc = case_try(request, &answer, &err);

	ck_assert_msg(
	    rc == RC_OK, "%s: %s: %s", rc_name(rc), err.path, err.why);
	return answer;
}

/* The protocol's request as text; freed by the caller. */
static inline char *
case_protocol(void)
{
	json_t *j = tk_case_data(CASE_PROTOCOL);
	char *text = json_dumps(j, 0);

	json_decref(j);
	return text;
}

/* The protocol's light (0), alarm (1) and head (2) intents. */
static inline json_t *
case_seed(void)
{
	json_t *request = tk_case_data(CASE_PROTOCOL);
	json_t *report = tk_case_data(CASE_REPORT);
	json_t *seed = json_incref(json_object_get(request, "intent_catalog"));
	json_t *head =
	    json_array_get(json_object_get(report, "intent_catalog"), 2);

	ck_assert_ptr_nonnull(head);
	json_array_append(seed, head);
	json_decref(request);
	json_decref(report);
	return seed;
}

/* A command against intents (stolen), one intent a segment. */
static inline json_t *
case_say(json_t *intents, const char *command)
{
	json_t *request = json_pack("{s:s, s:o, s:{s:i}}", "command", command,
	    "intent_catalog", intents, "options", "max_intents_per_segment", 1);
	char *text = json_dumps(request, 0);
	json_t *answer = case_run(text);

	free(text);
	json_decref(request);
	return answer;
}

/* The action of an answer. */
static inline const char *
case_action(const json_t *answer)
{
	return json_string_value(
	    json_object_get(json_object_get(answer, "decision"), "action"));
}

/* Member key of the i-th intent of an answer. */
static inline json_t *
case_intent(const json_t *answer, size_t i, const char *key)
{
	return json_object_get(
	    json_array_get(json_object_get(answer, "intents"), i), key);
}

/* Fails the test unless value is the JSON text expected. */
static inline void
case_equal(const json_t *value, const char *expected, const char *what)
{
	json_t *want = case_json(expected);
	char *got = json_dumps(value, JSON_ENCODE_ANY | JSON_SORT_KEYS);

	ck_assert_msg(json_equal(value, want), "%s: got %s, wanted %s", what,
	    got != NULL ? got : "nothing", expected);
	free(got);
	json_decref(want);
}

/* Fails the test unless r is the protocol's answer to its own request. */
static inline void
case_check_protocol(const json_t *r)
{
	ck_assert_str_eq(case_action(r), "execute_intents");
	ck_assert_uint_eq(json_array_size(json_object_get(r, "intents")), 2);
	case_equal(case_intent(r, 0, "span"),
	    "{\"text\":\"把灯变成绿色\",\"start\":0,\"end\":6}", "span 0");
	case_equal(case_intent(r, 1, "span"),
	    "{\"text\":\"10分钟后提醒我\",\"start\":8,\"end\":16}", "span 1");
	case_equal(case_intent(r, 0, "parameters"),
	    "{\"mode\":\"set_color\",\"color\":\"green\"}", "parameters 0");
	case_equal(case_intent(r, 0, "normalized"),
	    "{\"skill\":\"control_light\",\"mode\":\"set_color\","
	    "\"color\":\"green\"}",
	    "normalized 0");
	case_equal(case_intent(r, 1, "parameters"),
	    "{\"trigger_in_seconds\":600,\"label\":\"提醒事项\"}",
	    "parameters 1");
	case_equal(case_intent(r, 1, "normalized"),
	    "{\"skill\":\"create_alarm\",\"trigger_in_seconds\":600,"
	    "\"label\":\"提醒事项\"}",
	    "normalized 1");
}

#endif /* !FILTER_CASE_H */
