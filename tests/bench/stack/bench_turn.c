#include <stdio.h>
#include "testkit/stack/turns.h"
#include "testkit/stack/census.h"
#include "testkit/stack/monitor.h"
static struct stack st;
static const struct stack_opts opts = { .no_capture = true, .metered = true,
    .env = { [STACK_MQTT_BRIDGE] = { TURNS_BRIDGE_ENV } } };
TEST_T(x, 600)
{
	struct turns_times t; struct census *c; struct census_figures a, b, d; struct monitor *m;
	struct turns_plan p = { .text = TURNS_DIRECT, .n = 20, .in_flight = 1, .session = "w" };
	stack_start(&st, &opts);
	turns_bind(&st, 1);
	turns_run(&st, &p, NULL);
	m = monitor_new(&st); monitor_learn(m, 2000);
	for (int i = 0; i < 5; i++) {
		uint64_t fs = st.meter->fsyncs; long long n = census_nats(&st);
		p.n = 1; p.session = "y"; turns_run(&st, &p, NULL);
		monitor_learn(m, 200); 
		printf("monitor %zu fsync %d nats %lld\n", monitor_count(m, NULL), (int)(st.meter->fsyncs - fs), census_nats(&st) - n);
	}
	for (int i = 0; i < 5; i++) {
		uint64_t fs = st.meter->fsyncs; long long n = census_nats(&st);
		monitor_learn(m, 1000); 
		printf("idle fsync %d nats %lld\n", (int)(st.meter->fsyncs - fs), census_nats(&st) - n);
	}
	monitor_free(m);
	c = census_new(&st, true);
	printf("syscalls %d\n", census_syscalls(c));
	for (int f = 1; f <= 64; f *= 8) {
		p.n = f == 1 ? 200 : 1000; p.in_flight = f; p.session = "z";
		census_read(c, &a);
		turns_run(&st, &p, &t);
		census_read(c, &b);
		d = census_cost(&a, &b, p.n);
		printf("%d: %.0f/s p10 %.2f p50 %.2f p99 %.2f\n", f, t.per_s, t.p10_ms, t.p50_ms, t.p99_ms);
		census_print(c, &d);
	}
	stack_end(&st);
}
