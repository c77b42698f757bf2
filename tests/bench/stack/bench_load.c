/*
 * The effect of two attackers on another user's turns: expensive requests at 2
 * turns a second each, or 500 streams that are not read. Latency of the turns
 * with and without them, and the processor time per attacker's turn, which
 * other load of the machine does not affect.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/mem.h"
#include "testkit/http.h"
#include "testkit/json.h"
#include "testkit/stack/client.h"
#include "testkit/stack/peer.h"

#define ATTACKERS 2
#define EACH_MS   500
#define ROW_MS    6000
#define TURNS_MAX 100000
#define EVIL      "terminal-evil"
#define EVIL_USER "evil"
#define TEXT_MAX  (1024UL * 1024)
#define TOPIC     "soul/terminal/" EVIL "/"
#define SKILLS    250
/* A report of about 1 MiB; one close to the size limit. */
#define LARGE    3900
#define MIDDLE   60
#define INTENTS  94
#define PATTERNS 64
#define INPUTS   4
#define CHARS    5400
#define ARRAYS   60000
#define READERS  500

static const struct stack_opts opts = {
	.no_capture = true,
	.env = { [STACK_MQTT_BRIDGE] = { "RATE_TERMINAL_BURST=1000",
		     "RATE_TERMINAL_PER_S=1000" } },
};
static struct stack st;
static _Atomic bool attack_ended;
static _Atomic size_t attacks, rejected;
static size_t unserved; /* turns of the measured user */
static double base_p50, base_p99;

/* Processes whose processor time is printed. */
enum who { GATEWAY, ORCHESTRATOR, FILTER, REDIS, WHO };
static const char *const who_names[] = { "gateway", "orchestrator", "filter",
	"Redis" };
static double base_ms[WHO]; /* of a measured turn */

static double
cpu_ms(pid_t pid)
{
	unsigned long long user = 0, sys = 0;
	char path[64], text[1024] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	(void)!fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	const char *p = strrchr(text, ')');
	ck_assert_ptr_nonnull(p);
	ck_assert_int_eq(sscanf(p,
			     ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
			     "%llu %llu",
			     &user, &sys),
	    2);
	return (double)(user + sys) * 1000 / (double)sysconf(_SC_CLK_TCK);
}

static void
all_cpu(double ms[WHO])
{
	const pid_t pids[WHO] = {
		st.service[STACK_CHAT_GATEWAY].proc.pid,
		st.service[STACK_LLM_ORCHESTRATOR].proc.pid,
		st.service[STACK_INTENT_FILTER].proc.pid,
		st.server[STACK_REDIS].proc.pid,
	};

	for (int i = 0; i < WHO; i++)
		ms[i] = cpu_ms(pids[i]);
}

/* ---- requests ---- */

static void
plain(struct buf *b)
{
	buf_puts(b, "{\"type\":\"keyboard_text\",\"text\":\"转一圈吧\"}");
}

static void
long_inputs(struct buf *b)
{
	for (int i = 0; i < INPUTS; i++) {
		buf_puts(b, i > 0 ? "," : "");
		buf_puts(b, "{\"type\":\"keyboard_text\",\"text\":\"");
		for (int k = 0; k < CHARS; k++)
			buf_puts(b, "字");
		buf_puts(b, "\"}");
	}
}

static void
many_arrays(struct buf *b)
{
	plain(b);
	buf_puts(b, ",{\"type\":\"sensor_state\",\"data\":{\"x\":[[]");
	for (int i = 1; i < ARRAYS; i++)
		buf_puts(b, ",[]");
	buf_puts(b, "]}}");
}

static void
skills(struct buf *b, int each)
{
	buf_puts(b, "{\"skills\":[");
	for (int i = 0; i < SKILLS; i++)
		buf_printf(b,
		    "%s{\"name\":\"s%d\",\"description\":\"%0*d\","
		    "\"input_schema\":{\"type\":\"object\",\"properties\":{"
		    "\"a\":{\"type\":\"integer\"}}}}",
		    i > 0 ? "," : "", i, each, 0);
	buf_puts(b, "]}");
}

static void
large_skills(struct buf *b)
{
	skills(b, LARGE);
}

static void
middle_skills(struct buf *b)
{
	skills(b, MIDDLE);
}

/* No candidate matches, so all of them are tried. */
static void
pattern_skills(struct buf *b)
{
	buf_puts(b, "{\"intent_catalog\":[");
	for (int i = 0; i < INTENTS; i++) {
		buf_printf(b, "%s{\"id\":\"i%d\",\"match\":{\"regex_any\":[",
		    i > 0 ? "," : "", i);
		for (int k = 0; k < PATTERNS; k++)
			buf_printf(b, "%s\"[a-f]{%d}[0-9]{%d}\"",
			    k > 0 ? "," : "", i + 1, k + 1);
		buf_puts(b, "]}}");
	}
	buf_puts(b, "]}");
}

static const struct attack {
	const char *what;
	void (*report)(struct buf *b); /* NULL: unchanged */
	const char *leaf;
	void (*inputs)(struct buf *b); /* NULL: no turns */
	size_t readers;                /* event readers that do not read */
} attacks_of[] = {
	{ .what = "no attackers" },
	{ .what = "two with cheap requests", .inputs = plain },
	{ "250 skills, a report of 1 MiB", large_skills, "skills", plain, 0 },
	{ "250 skills, 50 KiB", middle_skills, "skills", plain, 0 },
	{ "6,016 patterns", pattern_skills, "intent_catalog", plain, 0 },
	{ .what = "4 x 5,400 characters", .inputs = long_inputs },
	{ .what = "60,000 small arrays", .inputs = many_arrays },
	{ .what = "500 readers of streams", .readers = READERS },
};

/* ---- attackers ---- */

struct attacker {
	pthread_t thread;
	const struct attack *a;
	int n;
};

static bool
is_over(void *arg)
{
	(void)arg;
	return attack_ended;
}

static void *
attack(void *arg)
{
	struct attacker *x = arg;
	struct buf b = BUF_INIT(TEXT_MAX);
	struct mono due = clock_mono();
	struct tk_response a = { 0 };

	buf_printf(&b,
	    "{\"user_id\":\"" EVIL_USER "\",\"session_id\":\"e%d_%d\","
	    "\"terminal_id\":\"" EVIL "\",\"inputs\":[",
	    (int)(x->a - attacks_of), x->n);
	x->a->inputs(&b);
	buf_puts(&b, "]}");
	buf_putc(&b, '\0');
	while (!attack_ended) {
		int status =
		    tk_http_request(st.service[STACK_CHAT_GATEWAY].http, &a,
			"POST", "/v1/chat", b.p);
		attacks++;
		rejected += status != 200;
		due = mono_add_ms(due, EACH_MS);
		int64_t left = mono_diff_ms(due, clock_mono());
		if (left > 0)
			(void)tk_until(is_over, NULL, (int)left);
	}
	tk_response_free(&a);
	buf_free(&b);
	return NULL;
}

/* A stream of a session with long messages; the data is not read. */
static void
open_readers(struct tk_http *c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		tk_http_open(&c[i], st.service[STACK_CHAT_GATEWAY].http);
		(void)tk_http_puts(&c[i],
		    "GET /v1/sessions/e5_0/events?user_id=" EVIL_USER
		    "&cursor=0 HTTP/1.1\r\nHost: localhost\r\n\r\n");
	}
}

static bool
is_measured(void *arg)
{
	const char *leaf = arg;
	json_t *j = client_terminal(&st, EVIL_USER, EVIL);
	const char *list = strcmp(leaf, "skills") == 0 ? "skills" : "intents";
	bool is = j != NULL &&
	    (json_array_size(json_object_get(j, list)) > 0 ||
		json_is_object(json_object_get(j, "last_refused")));

	json_decref(j);
	return is;
}

static void
report(struct peer *p, const struct attack *a)
{
	struct buf b = BUF_INIT(2 * TEXT_MAX);
	char topic[128];

	peer_send(p, TOPIC "online", "online", 6, PEER_REPORT);
	if (a->report == NULL)
		return;
	a->report(&b);
	snprintf(topic, sizeof(topic), TOPIC "%s", a->leaf);
	peer_send(p, topic, b.p, b.n, PEER_REPORT);
	buf_free(&b);
	ck_assert(tk_until(is_measured, (void *)(uintptr_t)a->leaf, STACK_MS));
}

/* Withdraw its report, so that rows do not add up. */
static void
unreport(struct peer *p, const struct attack *a)
{
	static const char none[] = "[]";

	if (a->report == NULL)
		return;
	peer_send(p,
	    strcmp(a->leaf, "skills") == 0 ? TOPIC "skills"
					   : TOPIC "intent_catalog",
	    none, sizeof(none) - 1, PEER_REPORT);
}

/* ---- the measured user ---- */

static int
by_size(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static size_t
conversation(char *json, int64_t *us)
{
	struct mono end = mono_add_ms(clock_mono(), ROW_MS);
	struct tk_response a = { 0 };
	size_t n = 0;

	while (n < TURNS_MAX && mono_diff_ns(end, clock_mono()) > 0) {
		struct mono began = clock_mono();
		int status =
		    tk_http_request(st.service[STACK_CHAT_GATEWAY].http, &a,
			"POST", "/v1/chat", json);
		if (status != 200 && unserved++ == 0)
			printf("    %d %.100s\n", status, a.body.p);
		us[n++] = mono_diff_ns(clock_mono(), began) / 1000;
	}
	tk_response_free(&a);
	qsort(us, n, sizeof(*us), by_size);
	return n;
}

static void
run(const struct attack *a, struct peer *p, char *json, int64_t *us)
{
	struct attacker x[ATTACKERS];
	int n = a->inputs != NULL ? ATTACKERS : 0;
	struct tk_http *c = mem_calloc(READERS, sizeof(*c));

	report(p, a);
	open_readers(c, a->readers);
	double before[WHO], after[WHO];
	all_cpu(before);
	attack_ended = false;
	attacks = rejected = unserved = 0;
	for (int i = 0; i < n; i++) {
		x[i] = (struct attacker){ .a = a, .n = i };
		ck_assert_int_eq(
		    pthread_create(&x[i].thread, NULL, attack, &x[i]), 0);
	}
	size_t turns = conversation(json, us);
	attack_ended = true;
	for (int i = 0; i < n; i++)
		pthread_join(x[i].thread, NULL);
	for (size_t i = 0; i < a->readers; i++)
		tk_http_close(&c[i]);
	free(c);
	all_cpu(after);
	double p50 = (double)us[turns / 2] / 1000;
	double p99 = (double)us[turns - 1 - turns / 100] / 1000;
	if (a == attacks_of) {
		base_p50 = p50;
		base_p99 = p99;
	}
	if (a == attacks_of)
		for (int i = 0; i < WHO; i++)
			base_ms[i] = (after[i] - before[i]) / (double)turns;
	printf("%-31s p50 %8.3f ms %6.2f x  p99 %8.3f ms %6.2f x  %zu of %zu "
	       "rejected, %zu of %zu measured turns failed\n",
	    a->what, p50, p50 / base_p50, p99, p99 / base_p99, (size_t)rejected,
	    (size_t)attacks, unserved, turns);
	if (n > 0) {
		printf("    a turn of theirs, ms of processor time:");
		for (int i = 0; i < WHO; i++)
			printf(" %s %.1f", who_names[i],
			    (after[i] - before[i] -
				base_ms[i] * (double)turns) /
				(double)attacks);
		printf("\n");
	}
	unreport(p, a);
}

TEST_T(load_beside_expensive_requests, 300)
{
	struct client o = { &st, STACK_USER, "s1", STACK_BODY };
	int64_t *us = mem_calloc(TURNS_MAX, sizeof(*us));
	struct peer *p;
	char *json;

	stack_start(&st, &opts);
	client_wait_terminal(&st, STACK_USER, STACK_BODY, CLIENT_SEES_INTENTS);
	client_select_soul(&st, STACK_USER, STACK_BODY,
	    client_create_soul(&st, STACK_USER, "小元", "ENFP"));
	client_select_soul(&st, EVIL_USER, EVIL,
	    client_create_soul(&st, EVIL_USER, "小恶", "INTJ"));
	p = peer_new(&st, &(struct peer_opts){ .client_id = "evil" });
	json_t *j = client_chat_request(&o, "把灯变成绿色");
	json = json_dumps(j, 0);
	json_decref(j);
	(void)conversation(json, us); /* warm-up */
	printf("a turn of another user under attack (target: at most 3 x)\n");
	for (size_t i = 0; i < NELEM(attacks_of); i++)
		run(&attacks_of[i], p, json, us);
	peer_free(p);
	free(json);
	free(us);
	(void)stack_end(&st);
}
