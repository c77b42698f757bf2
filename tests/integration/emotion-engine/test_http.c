/*
 * The HTTP endpoints: recognition, conversion, the table.
 */
#include <stdlib.h>

#include "testkit/emotion_fixture.h"

struct json_response {
	int status;
	json_t *json; /* NULL: not JSON */
};

static struct json_response
http(struct emotion_fixture *b, const char *method, const char *path,
    const char *body)
{
	struct tk_response a = { 0 };
	struct json_response out;

	out.status = tk_http_request(b->engine[0].http, &a, method, path, body);
	out.json = json_loadb(a.body.p, a.body.n, 0, NULL);
	tk_response_free(&a);
	return out;
}

static const struct {
	const char *text, *emotion;
	double p, a, d;
} texts[] = {
	{ "我很难过", "sadness", -.65, -.15, -.35 },
	{ "开灯", "neutral", 0, .05, 0 },
	{ " ", "neutral", 0, .05, 0 },
	{ "压力很大睡不着", "anxiety", -.62, .72, -.48 },
	{ "I'm so happy!", "joy", .70, .55, .20 },
};

static void
analyze(struct emotion_fixture *b)
{
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_t *req = json_pack("{ss}", "text", texts[i].text);
		char *body = json_dumps(req, 0);
		struct json_response r =
		    http(b, "POST", "/v1/emotion/analyze", body);

		ck_assert_int_eq(r.status, 200);
		ck_assert_str_eq(tk_text(r.json, "emotion"), texts[i].emotion);
		/* The weighted mean is near the prototype. */
		ck_assert_double_eq_tol(tk_number(r.json, "p"), texts[i].p, .3);
		ck_assert_double_eq_tol(tk_number(r.json, "a"), texts[i].a, .4);
		ck_assert_double_eq_tol(tk_number(r.json, "d"), texts[i].d, .3);
		ck_assert_ptr_null(json_object_get(r.json, "evidence"));
		ck_assert_double_le(tk_number(r.json, "intensity"), 1);
		ck_assert_double_lt(tk_number(r.json, "latency_ms"), 1000);
		json_decref(r.json);
		json_decref(req);
		free(body);
	}
}

static void
analyze_debug(struct emotion_fixture *b)
{
	struct json_response r = http(b, "POST", "/v1/emotion/analyze",
	    "{\"text\":\"气死我了\",\"debug\":true}");
	json_t *e = json_array_get(tk_at(r.json, "evidence"), 0);

	ck_assert_int_eq(r.status, 200);
	ck_assert_str_eq(tk_text(r.json, "emotion"), "anger");
	ck_assert_str_ne(tk_text(r.json, "second"), "anger");
	ck_assert_str_eq(tk_text(e, "text"), "气死我了");
	ck_assert_str_eq(tk_text(e, "rule"), "cue");
	ck_assert_str_eq(tk_text(e, "emotion"), "anger");
	ck_assert_double_gt(tk_number(e, "weight"), 1);
	json_decref(r.json);
}

static const struct {
	const char *body, *emotion;
	double p, intensity;
} names[] = {
	{ "{\"emotion\":\"sadness\",\"confidence\":0.91}", "sadness", -.65,
	    .91 },
	{ "{\"emotion\":\"happy\",\"confidence\":0.5}", "joy", .70, .5 },
	{ "{\"emotion\":\"happiness\",\"confidence\":0}", "joy", .70, 0 },
	{ "{\"emotion\":\"sad\",\"confidence\":1}", "sadness", -.65, 1 },
	{ "{\"emotion\":\" Angry \",\"confidence\":1}", "anger", -.60, 1 },
	{ "{\"emotion\":\"xyz\",\"confidence\":0.3}", "neutral", 0, .3 },
};

static void
convert(struct emotion_fixture *b)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct json_response r =
		    http(b, "POST", "/v1/emotion/convert", names[i].body);

		ck_assert_int_eq(r.status, 200);
		ck_assert_str_eq(tk_text(r.json, "emotion"), names[i].emotion);
		ck_assert_double_eq(tk_number(r.json, "p"), names[i].p);
		ck_assert_double_eq(
		    tk_number(r.json, "intensity"), names[i].intensity);
		json_decref(r.json);
	}
}

static void
pad_table(struct emotion_fixture *b)
{
	struct json_response r = http(b, "GET", "/v1/emotion/pad-table", "");
	json_t *t;

	ck_assert_int_eq(r.status, 200);
	t = tk_at(r.json, "pad_table");
	ck_assert_uint_eq(json_object_size(t), 15);
	ck_assert_double_eq(tk_number(t, "joy.a"), .55);
	ck_assert_double_eq(tk_number(t, "boredom.d"), -.15);
	ck_assert_double_eq(tk_number(t, "relief.a"), -.20);
	json_decref(r.json);
}

static const struct {
	const char *method, *path, *body;
	int status;
	const char *error;
} bad[] = {
	{ "POST", "/v1/emotion/analyze", "{", 400, "invalid json" },
	{ "POST", "/v1/emotion/analyze", "[]", 400, "invalid json" },
	{ "POST", "/v1/emotion/analyze", "", 400, "invalid json" },
	{ "POST", "/v1/emotion/analyze", "{}", 400, "text is required" },
	{ "POST", "/v1/emotion/analyze", "{\"text\":\"\"}", 400,
	    "text is required" },
	{ "POST", "/v1/emotion/analyze", "{\"text\":7}", 400,
	    "/text: must be a string" },
	{ "POST", "/v1/emotion/convert", "{\"confidence\":1}", 400,
	    "emotion is required" },
	{ "POST", "/v1/emotion/convert", "{\"emotion\":\"joy\"}", 400,
	    "confidence must be a finite number" },
	{ "POST", "/v1/emotion/convert",
	    "{\"emotion\":\"joy\",\"confidence\":\"x\"}", 400,
	    "/confidence: must be a number" },
	{ "POST", "/v1/emotion/convert",
	    "{\"emotion\":\"joy\",\"confidence\":1.5}", 400,
	    "/confidence: must be at most 1" },
	{ "GET", "/v1/emotion/analyze", "", 405, NULL },
	{ "POST", "/v1/emotion/nothing", "{}", 404, NULL },
};

static void
errors(struct emotion_fixture *b)
{
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct json_response r =
		    http(b, bad[i].method, bad[i].path, bad[i].body);

		ck_assert_msg(r.status == bad[i].status, "%s %s: %d",
		    bad[i].path, bad[i].body, r.status);
		ck_assert_ptr_nonnull(r.json);
		if (bad[i].error != NULL)
			ck_assert_str_eq(
			    tk_text(r.json, "error"), bad[i].error);
		ck_assert_ptr_nonnull(tk_text(r.json, "code"));
		json_decref(r.json);
	}
}

TEST(the_http_endpoints_respond)
{
	struct emotion_fixture b;

	/* The same weights from a file. */
	emotion_fixture_start(
	    &b, 1, "EMOTION_WEIGHTS=services/emotion-engine/emotion.weights");
	analyze(&b);
	analyze_debug(&b);
	convert(&b);
	pad_table(&b);
	errors(&b);
	emotion_fixture_stop(&b);
}
