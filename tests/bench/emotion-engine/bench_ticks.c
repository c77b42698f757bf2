/*
 * What ticking costs: souls of one engine that tick every two seconds, what the
 * engine and Redis use of a core, and how regularly the bodies hear of it.
 */
#include <unistd.h>

#include "core/mem.h"
#include "integration/emotion-engine/bed.h"

#define BODIES      10000
#define INTERVAL_MS 2000
#define RUN_MS      12000

struct listener {
	int64_t last[BODIES]; /* ns; 0: not heard of yet */
	double *gaps;         /* ms, of one body from tick to tick */
	size_t n, max;
	size_t heard;
};

static void
on_tick(natsConnection *nc, natsSubscription *sub, natsMsg *m, void *arg)
{
	struct listener *l = arg;
	int64_t now = clock_mono().ns;
	int i = -1;

	(void)nc;
	(void)sub;
	if (sscanf(natsMsg_GetSubject(m), "soul.body.main.t%d.", &i) == 1 &&
	    i >= 0 && i < BODIES) {
		if (l->last[i] != 0 && l->n < l->max)
			l->gaps[l->n++] = (double)(now - l->last[i]) / 1e6;
		l->last[i] = now;
		l->heard++;
	}
	natsMsg_Destroy(m);
}

/* User and system time of a process, s. */
static double
cpu_of(pid_t pid)
{
	char path[64], *text, *p;
	unsigned long user, sys;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	text = kit_read_file(path, NULL);
	p = strrchr(text, ')');
	ck_assert_int_eq(sscanf(p,
			     ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
			     "%lu %lu",
			     &user, &sys),
	    2);
	free(text);
	return (double)(user + sys) / (double)sysconf(_SC_CLK_TCK);
}

static bool
never(void *arg)
{
	(void)arg;
	return false;
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
souls(struct bed *b)
{
	char soul[16], body[16];
	int i;

	for (i = 0; i < BODIES; i++) {
		snprintf(soul, sizeof(soul), "s%d", i);
		snprintf(body, sizeof(body), "t%d", i);
		bed_soul_of(b, soul, "INFP", soul);
		ck_assert_int_eq(terminal_bind(b->state, str_of(body),
				     str_of(soul), str_of(soul)),
		    RC_OK);
		bed_online(b, body, true);
	}
}

KIT_TEST_T(ticks, 300)
{
	struct listener *l = mem_zalloc(sizeof(*l));
	natsSubscription *sub = NULL;
	double engine, redis, s = RUN_MS / 1e3;
	struct bed b;

	l->max = (size_t)BODIES * 16;
	l->gaps = mem_calloc(l->max, sizeof(l->gaps[0]));
	bed_servers(&b);
	b.writer.ttl_ms = 86400000;
	souls(&b);
	bed_spawn(&b, 0, "SKILL_SNAPSHOT_TTL_SECONDS=86400");
	ck_assert(kit_until(engine_ready, &b.engine[0], BED_MS));
	/* The first round makes each soul of its type. */
	kit_until(never, NULL, 3 * INTERVAL_MS);
	engine = cpu_of(b.engine[0].proc.pid);
	redis = cpu_of(b.redis.proc.pid);
	ck_assert_int_eq(
	    natsConnection_Subscribe(&sub, b.nc, "soul.body.>", on_tick, l),
	    NATS_OK);
	kit_until(never, NULL, RUN_MS);
	engine = cpu_of(b.engine[0].proc.pid) - engine;
	redis = cpu_of(b.redis.proc.pid) - redis;
	natsSubscription_Unsubscribe(sub);
	natsSubscription_Destroy(sub);
	qsort(l->gaps, l->n, sizeof(l->gaps[0]), by_value);
	printf("%d bodies every %d ms: %.0f updates/s\n", BODIES, INTERVAL_MS,
	    (double)l->heard / s);
	printf("of a core: engine %.0f %%, Redis %.0f %%; engine per tick "
	       "%.1f us\n",
	    100 * engine / s, 100 * redis / s, 1e6 * engine / (double)l->heard);
	if (l->n > 0)
		printf("from tick to tick of one body: p1 %.0f ms, p50 %.0f "
		       "ms, p99 %.0f ms\n",
		    l->gaps[l->n / 100], l->gaps[l->n / 2],
		    l->gaps[l->n * 99 / 100]);
	bed_stop(&b);
	free(l->gaps);
	free(l);
}
