/*
 * The whole stack on this machine: the latency of a turn on each path, compared
 * with its bare components, and the memory of an idle service.
 */
#include <curl/curl.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/str.h"
#include "testkit/json.h"
#include "testkit/sse.h"
#include "testkit/stack/client.h"

#define WARM_UP  200
#define TURNS    2000
#define STREAMED 500

/* The request to the model, without what only the stack adds. */
#define MODEL_REQUEST                                        \
	"{\"model\":\"m\",\"messages\":[{\"role\":\"user\"," \
	"\"content\":\"今天上海天气如何？\"}]}"

static const struct stack_opts opts = { .no_capture = true };
static struct stack st;

/* ---- timing ---- */

struct timing {
	int64_t us[TURNS];
	size_t n;
};

static int
by_size(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void
print_timing(const char *what, struct timing *t, const char *budget)
{
	qsort(t->us, t->n, sizeof(t->us[0]), by_size);
	printf("%-44s p50 %7.3f ms  p99 %7.3f ms  %s\n", what,
	    (double)t->us[t->n / 2] / 1000,
	    (double)t->us[t->n - 1 - t->n / 100] / 1000, budget);
}

typedef void (*step_fn)(void *arg);

static void
measure(const char *what, step_fn fn, void *arg, const char *budget)
{
	struct timing *t = mem_zalloc(sizeof(*t));
	struct mono began;
	size_t i;

	for (i = 0; i < WARM_UP; i++)
		fn(arg);
	for (i = 0; i < TURNS; i++) {
		began = clock_mono();
		fn(arg);
		t->us[t->n++] = mono_diff_ns(clock_mono(), began) / 1000;
	}
	print_timing(what, t, budget);
	free(t);
}

/* ---- paths ---- */

/* An HTTP request on a persistent connection. */
struct request {
	CURL *curl;
	struct curl_slist *head;
	char url[128];
	char *body;
	const char *wants; /* text the response must contain */
	char response[65536];
	size_t n;
};

static size_t
on_data(char *p, size_t size, size_t n, void *arg)
{
	struct request *r = arg;

	ck_assert_uint_lt(r->n + size * n, sizeof(r->response));
	memcpy(r->response + r->n, p, size * n);
	r->n += size * n;
	r->response[r->n] = '\0';
	return size * n;
}

static void
bench_request(void *arg)
{
	struct request *r = arg;
	long status = 0;

	r->n = 0;
	ck_assert_int_eq(curl_easy_perform(r->curl), CURLE_OK);
	curl_easy_getinfo(r->curl, CURLINFO_RESPONSE_CODE, &status);
	ck_assert_int_eq(status, 200);
	ck_assert_msg(strstr(r->response, r->wants) != NULL, "%s", r->response);
}

static void
request_init(struct request *r, int port, const char *path, json_t *body)
{
	memset(r, 0, sizeof(*r));
	snprintf(r->url, sizeof(r->url), "http://127.0.0.1:%d%s", port, path);
	r->curl = curl_easy_init();
	curl_easy_setopt(r->curl, CURLOPT_URL, r->url);
	curl_easy_setopt(r->curl, CURLOPT_TCP_NODELAY, 1L);
	curl_easy_setopt(r->curl, CURLOPT_WRITEFUNCTION, on_data);
	curl_easy_setopt(r->curl, CURLOPT_WRITEDATA, r);
	if (body != NULL) {
		r->body = json_dumps(body, 0);
		r->head =
		    curl_slist_append(NULL, "Content-Type: application/json");
		curl_easy_setopt(r->curl, CURLOPT_HTTPHEADER, r->head);
		curl_easy_setopt(r->curl, CURLOPT_POSTFIELDS, r->body);
		json_decref(body);
	}
}

static void
request_free(struct request *r)
{
	curl_easy_cleanup(r->curl);
	curl_slist_free_all(r->head);
	free(r->body);
}

static void
measure_request(
    const char *what, const char *wants, const char *budget, struct request *r)
{
	r->wants = wants;
	measure(what, bench_request, r, budget);
	request_free(r);
}

static void
set_in_redis(void *arg)
{
	redisReply *reply = redisCommand(arg, "SET bench x");

	ck_assert_ptr_nonnull(reply);
	freeReplyObject(reply);
}

/* ---- streams ---- */

/* Of streamed turns: time to the first chunk of text, and to the end. */
struct streamed {
	const struct client *o;
	struct timing first, end;
};

static void
read_streamed(struct streamed *t, struct mono began, struct tk_sse *s)
{
	struct tk_sse_event e;
	bool more = true, first = true;

	while (more) {
		ck_assert(tk_sse_next(s, STACK_MS, &e));
		if (first && strcmp(tk_text(e.j, "type"), DELTA) == 0) {
			first = false;
			t->first.us[t->first.n++] =
			    mono_diff_ns(clock_mono(), began) / 1000;
		}
		more = strcmp(tk_text(e.j, "type"), COMPLETED) != 0;
		json_decref(e.j);
	}
	t->end.us[t->end.n++] = mono_diff_ns(clock_mono(), began) / 1000;
}

static void
measure_streamed(const struct client *o, const char *text)
{
	struct streamed *t = mem_zalloc(sizeof(*t));
	json_t *body = client_chat_request(o, text);
	struct tk_sse s;
	struct mono began;
	char *json;

	t->o = o;
	json_object_set_new(body, "stream", json_true());
	json = json_dumps(body, 0);
	for (size_t i = 0; i < STREAMED; i++) {
		began = clock_mono();
		tk_sse_post(&s, st.service[STACK_CHAT_GATEWAY].http, "", json);
		tk_sse_begun(&s);
		read_streamed(t, began, &s);
		tk_sse_close(&s);
	}
	print_timing("a streamed turn, its first piece", &t->first, "");
	print_timing("a streamed turn, its end", &t->end, "");
	json_decref(body);
	free(json);
	free(t);
}

/* ---- memory ---- */

static void
print_memory(const char *when)
{
	size_t i;

	printf("resident memory %s, MiB:", when);
	for (i = 0; i < STACK_SERVICES; i++)
		printf(" %s %.1f", stack_name((enum stack_service)i),
		    (double)tk_proc_status(st.service[i].proc.pid, "VmRSS") /
			1024);
	printf("  (budget 12 idle)\n");
}

TEST_T(the_whole_stack, 600)
{
	struct client o = { &st, STACK_USER, "s1", STACK_BODY };
	redisContext *redis;
	struct request r;
	int gateway;

	stack_start(&st, &opts);
	print_memory("idle");
	gateway = st.service[STACK_CHAT_GATEWAY].http;
	client_select_soul(&st, STACK_USER, STACK_BODY,
	    client_create_soul(&st, STACK_USER, "小元", "ENFP"));
	redis = redisConnect("127.0.0.1", st.server[STACK_REDIS].port);
	measure("Redis, one write to disk", set_in_redis, redis, "");
	redisFree(redis);
	request_init(&r, st.service[STACK_EMOTION_ENGINE].http,
	    "/v1/emotion/pad-table", NULL);
	measure_request("HTTP, a constant response", "joy", "", &r);
	request_init(
	    &r, gateway, "/v1/chat", client_chat_request(&o, "把灯变成绿色"));
	measure_request("a turn by an intent", "[\"control_light\"]",
	    "(budget 2 ms p50)", &r);
	o.session = "s2";
	request_init(&r, gateway, "/v1/chat",
	    client_chat_request(&o, "今天上海天气如何？"));
	measure_request("a turn by the model (simulated, at once)",
	    "我听到你说", "(budget 3 ms p50)", &r);
	request_init(&r, st.service[STACK_LLM_SIM].http, "/v1/chat/completions",
	    json_loads(MODEL_REQUEST, 0, NULL));
	measure_request(
	    "the simulated model alone, to be taken off", "我听到你说", "", &r);
	o.session = "s3";
	measure_streamed(&o, "今天上海天气如何？");
	o.session = "s4";
	request_init(&r, gateway, "/v1/chat",
	    client_chat_request(&o, "动一动你的脑袋吧"));
	measure_request("a turn by the model with a skill",
	    "[\"set_head_motion\"]", "", &r);
	print_memory("after 6,600 turns");
	ck_assert_ptr_null(stack_end(&st));
}
