/*
 * The capacity of one instance of each on this machine, for the table in
 * docs/operations.md: devices of a broker and its bridge, turns of an
 * orchestrator, event readers of a gateway.
 */
#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "testkit/figures.h"
#include "testkit/http.h"
#include "testkit/nats.h"
#include "testkit/stack/client.h"
#include "testkit/stack/fleet.h"

#define MS 300000

static struct stack st;

/* Resource usage of a process: processor time, memory. */
struct used {
	double cpu_us;
	long rss_kib;
};

static struct used
used(const struct tk_proc *p)
{
	return (
	    struct used){ tk_cpu_us(p->pid), tk_proc_status(p->pid, "VmRSS") };
}

/* ---- devices ---- */

static void
bodies(int n)
{
	int brokers = 1;
	const char *why = fleet_obstacle(n, &brokers);

	if (why != NULL)
		printf("skipped: %d bodies: %s\n", n, why);
	else
		fleet_measure(n, brokers);
}

TEST_T(a_thousand_bodies, 300)
{
	bodies(1000);
}

TEST_T(ten_thousand_bodies, 600)
{
	bodies(10000);
}

/* ---- turns ---- */

#define TURNS      3000
#define CONCURRENT 64
/* The orchestrator may reply to nobody else. */
#define INBOX "_INBOX.chat-gateway.load"

struct load {
	natsConnection *nc;
	natsSubscription *sub;
	const char *subject, *text;
	int sent;
};

static void
load_begin(struct load *l, const char *subject)
{
	l->nc = tk_nats_connect(st.server[STACK_NATS].url);
	l->sub = tk_nats_listen(l->nc, INBOX);
	natsSubscription_SetPendingLimits(l->sub, -1, -1);
	l->subject = subject;
	l->sent = 0;
}

static void
load_end(struct load *l)
{
	natsSubscription_Destroy(l->sub);
	natsConnection_Destroy(l->nc);
}

static void
send_one(struct load *l)
{
	static int number;
	char body[512];

	number++;
	snprintf(body, sizeof(body),
	    "{\"turn_id\":\"turn_%d\",\"user_id\":\"" STACK_USER
	    "\",\"chat\":{\"session_id\":\"c%d\",\"terminal_id\":\"" STACK_BODY
	    "\",\"inputs\":[{\"type\":\"keyboard_text\",\"text\":\"%s\"}]}}",
	    number, l->sent % (2 * CONCURRENT), l->text);
	ck_assert_int_eq(
	    natsConnection_PublishRequestString(l->nc, l->subject, INBOX, body),
	    NATS_OK);
	l->sent++;
}

/* CONCURRENT at a time; returns turns per second. */
static double
run(struct load *l)
{
	struct mono began = clock_mono();
	natsMsg *m;
	int done = 0;

	while (l->sent < CONCURRENT)
		send_one(l);
	while (done < TURNS) {
		ck_assert_int_eq(
		    natsSubscription_NextMsg(&m, l->sub, MS), NATS_OK);
		if (strstr(natsMsg_GetData(m), "\"accepted\"") == NULL &&
		    strstr(natsMsg_GetData(m), "\"running\"") == NULL) {
			ck_assert_msg(
			    strstr(natsMsg_GetData(m), "\"completed\"") != NULL,
			    "%s", natsMsg_GetData(m));
			done++;
			if (l->sent < TURNS)
				send_one(l);
		}
		natsMsg_Destroy(m);
	}
	return TURNS / ((double)mono_diff_ns(clock_mono(), began) / 1e9);
}

static void
on_bare(natsConnection *nc, natsSubscription *sub, natsMsg *m, void *arg)
{
	(void)sub;
	(void)arg;
	natsConnection_PublishString(
	    nc, natsMsg_GetReply(m), "{\"state\":\"completed\"}");
	natsMsg_Destroy(m);
}

/* The same requests without the stack: a bare client replies. */
static double
bare(void)
{
	struct load l = { .text = "你好" };
	natsSubscription *sub;
	natsConnection *nc;
	double rate;

	nc = tk_nats_connect(st.server[STACK_NATS].url);
	ck_assert_int_eq(
	    natsConnection_Subscribe(&sub, nc, "bare", on_bare, NULL), NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(nc), NATS_OK);
	load_begin(&l, "bare");
	rate = run(&l);
	load_end(&l);
	natsSubscription_Destroy(sub);
	natsConnection_Destroy(nc);
	return rate;
}

static void
turns(const char *what, const char *text, double bare_rate)
{
	const struct tk_proc *p = &st.service[STACK_LLM_ORCHESTRATOR].proc;
	struct load l = { .text = text };
	struct used from, to;
	double rate;

	load_begin(&l, "soul.rpc.turn.start");
	from = used(p);
	rate = run(&l);
	to = used(p);
	load_end(&l);
	printf("%s turns, %d at a time: %5.0f a second (bare requests: %.0f); "
	       "llm-orchestrator %.2f ms of a core each, %ld KiB\n",
	    what, CONCURRENT, rate, bare_rate,
	    (to.cpu_us - from.cpu_us) / 1e3 / TURNS, to.rss_kib);
	(void)fflush(stdout);
}

TEST_T(turns_of_an_orchestrator, 600)
{
	const struct stack_opts o = { .no_capture = true };
	double rate;

	stack_start(&st, &o);
	client_wait_terminal(&st, STACK_USER, STACK_BODY, CLIENT_SEES_INTENTS);
	client_select_soul(&st, STACK_USER, STACK_BODY,
	    client_create_soul(&st, STACK_USER, "小元", "ENFP"));
	rate = bare();
	turns("direct", "把灯变成绿色", rate);
	turns("model", "今天上海天气如何？", rate);
	nats_Close();
	(void)stack_end(&st);
}

/* ---- readers ---- */

/* Three quarters of the connections are for readers. */
#define WORKERS  "HTTP_WORKERS=4096"
#define READERS  3000
#define REQUESTS 200

static int
by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double
median_response_us(void)
{
	static double us[REQUESTS];
	struct mono began;
	size_t i;

	for (i = 0; i < REQUESTS; i++) {
		began = clock_mono();
		json_decref(client_ok(&st, "GET", "/v1/souls", NULL));
		us[i] = (double)mono_diff_ns(clock_mono(), began) / 1e3;
	}
	qsort(us, REQUESTS, sizeof(us[0]), by_size);
	return us[REQUESTS / 2];
}

TEST_T(readers_of_a_gateway, 600)
{
	const struct stack_opts o = { .no_capture = true,
		.env[STACK_CHAT_GATEWAY] = { WORKERS } };
	const struct tk_proc *p = &st.service[STACK_CHAT_GATEWAY].proc;
	struct tk_http *c = mem_calloc(READERS, sizeof(*c));
	struct used none, all;
	double before, after;
	char request[160];
	struct client owner = { &st, STACK_USER, "s1", STACK_BODY };
	int i;

	stack_start(&st, &o);
	client_wait_terminal(&st, STACK_USER, STACK_BODY, CLIENT_SEES_INTENTS);
	client_select_soul(&st, STACK_USER, STACK_BODY,
	    client_create_soul(&st, STACK_USER, "小元", "ENFP"));
	json_decref(client_chat(&owner, "今天上海天气如何？"));
	none = used(p);
	before = median_response_us();
	for (i = 0; i < READERS; i++) {
		tk_http_open(&c[i], st.service[STACK_CHAT_GATEWAY].http);
		snprintf(request, sizeof(request),
		    "GET /v1/sessions/s1/events?user_id=" STACK_USER
		    " HTTP/1.1\r\nHost: localhost\r\n\r\n");
		ck_assert(tk_http_puts(&c[i], request));
	}
	for (i = 0; i < READERS; i++)
		ck_assert(tk_http_has(&c[i], "text/event-stream", MS));
	all = used(p);
	after = median_response_us();
	printf("%d readers of one gateway: %.1f KiB each, %ld threads; another "
	       "request takes %.0f us, %.0f without them\n",
	    READERS, (double)(all.rss_kib - none.rss_kib) / READERS,
	    tk_proc_status(p->pid, "Threads"), after, before);
	for (i = 0; i < READERS; i++)
		tk_http_close(&c[i]);
	free(c);
	(void)stack_end(&st);
}
