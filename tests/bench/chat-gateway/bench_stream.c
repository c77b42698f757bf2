/*
 * Events from NATS to the readers of their session: latency of one beside a
 * plain subscriber of the same message, and throughput when many readers catch
 * up.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "testkit/figures.h"
#include "testkit/gateway_turn_fixture.h"

#define PATH    "/v1/sessions/s1/events?cursor=0"
#define ROUNDS  2000
#define READERS 100
#define EVENTS  800 /* fewer than are stored */

static struct gateway_fixture b;
static struct gw_run r;

static void
print(const char *what, double *us)
{
	tk_sort(us, ROUNDS);
	printf("  %-28s %6.0f us p50 %6.0f us p99\n", what, us[ROUNDS / 2],
	    us[ROUNDS * 99 / 100]);
}

/* The event is in the log; it is published and arrives. */
static void
latency(struct tk_sse *s, natsSubscription *sub)
{
	static double ours[ROUNDS], bare[ROUNDS];
	char json[1024];
	struct str event;
	natsMsg *m;
	int i;

	gw_run_event(&r, json, sizeof(json), DELTA,
	    "{\"message_id\":\"m\",\"text_delta\":\"你好，\"}");
	event = str_of(json);
	for (i = 0; i < ROUNDS; i++) {
		gw_run_log(&r, &event, 1);
		double start = tk_now_ns();
		gw_run_publish(&r, r.seq, json);
		tk_sse_is(s, r.seq, DELTA);
		ours[i] = (tk_now_ns() - start) / 1e3;
		start = tk_now_ns();
		tk_nats_send(b.nc, "bare", json);
		ck_assert_int_eq(
		    natsSubscription_NextMsg(&m, sub, GW_MS), NATS_OK);
		bare[i] = (tk_now_ns() - start) / 1e3;
		natsMsg_Destroy(m);
	}
	print("published to reader", ours);
	print("published to subscriber", bare);
}

/* Discard what s has received; returns the number of events. */
static int
discard(struct tk_sse *s)
{
	const char *at = s->c.in.p;
	int n = 0;

	if (s->c.in.n == 0)
		return 0;
	while ((at = strstr(at, "\n\n")) != NULL) {
		at += 2;
		n++;
	}
	at = strrchr(s->c.in.p, '\n');
	if (at != NULL)
		buf_drop(&s->c.in, (size_t)(at - s->c.in.p));
	return n;
}

static void
fan_out(void)
{
	static struct tk_sse s[READERS];
	struct pollfd p[READERS];
	char path[64];
	double start, cpu;
	int i, got = 0;

	snprintf(path, sizeof(path), "%s%lld",
	    "/v1/sessions/s1/events?cursor=", (long long)r.seq);
	for (i = 0; i < READERS; i++) {
		tk_sse_open(&s[i], b.gateway.http, path);
		buf_reset(&s[i].c.in);
		p[i] = (struct pollfd){ .fd = s[i].c.fd, .events = POLLIN };
	}
	/* They receive the last event and read the rest from the log. */
	r.mute = true;
	gw_run_deltas(&r, EVENTS - 1);
	r.mute = false;
	start = tk_now_ns();
	cpu = tk_cpu_us(b.gateway.proc.pid);
	gw_run_delta(&r, "x");
	while (got < READERS * EVENTS) {
		ck_assert_int_gt(poll(p, READERS, GW_MS), 0);
		for (i = 0; i < READERS; i++) {
			if (p[i].revents == 0)
				continue;
			ck_assert(tk_http_fill(&s[i].c, 0));
			got += discard(&s[i]);
		}
	}
	start = (tk_now_ns() - start) / 1e9;
	cpu = tk_cpu_us(b.gateway.proc.pid) - cpu;
	printf("  %d readers, %d events each   %8.0f events/s, %.1f us of "
	       "processor time each\n",
	    READERS, EVENTS, got / start, cpu / got);
	for (i = 0; i < READERS; i++)
		tk_sse_close(&s[i]);
}

TEST_T(latency_and_fan_out_of_events, 120)
{
	natsSubscription *sub;
	struct tk_sse s;

	gateway_fixture_start_alone(&b, NULL);
	sub = tk_nats_listen(b.nc, "bare");
	gw_run_begin(&r, &b, "s1", "turn_1");
	tk_sse_open(&s, b.gateway.http, PATH);
	tk_sse_is(&s, 1, STARTED);
	latency(&s, sub);
	tk_sse_close(&s);
	fan_out();
	natsSubscription_Destroy(sub);
	gateway_fixture_stop(&b);
}
