/*
 * Engines are killed in turn while souls tick and a user sends texts.
 *
 * Each version of a soul is published once; only what an engine was processing
 * when it was killed may be missing.
 */
#include "testkit/emotion_failover.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "testkit/emotion_fixture.h"

#define FAILOVER_INTERVAL_MS 2000 /* tick interval */
/* A soul of a killed engine: one interval, and until another takes over. */
#define FAILOVER_GAP_MS (FAILOVER_INTERVAL_MS + 5000)
/* The fixture sends no heartbeats. */
#define FAILOVER_TTL "SKILL_SNAPSHOT_TTL_SECONDS=86400"

/* What was received about a soul. */
struct failover_soul {
	int64_t tick, input; /* newest version of either kind */
	struct mono ticked;
	int64_t newest;
	int64_t published; /* number of distinct versions */
	int64_t worst;     /* longest ms between two ticks */
};

struct failover {
	struct emotion_fixture *b;
	const struct failover_plan *plan;
	struct failover_soul *soul;
	atomic_bool stopped;
	atomic_int sent, replied;
	int kills;
};

/* Send texts to one soul after another while engines are killed. */
static void *
failover_talk_thread(void *arg)
{
	static const char *const texts[] = { "我很开心", "气死我了！", "谢谢你",
		"我好害怕" };
	struct failover *f = arg;
	char body[256];
	natsMsg *m;
	int i;

	for (i = 0; !atomic_load(&f->stopped); i++) {
		snprintf(body, sizeof(body),
		    "{\"user_id\":\"s%d\",\"soul_id\":\"s%d\","
		    "\"session_id\":\"input\","
		    "\"terminal_id\":\"t%d\",\"text\":\"%s\"}",
		    i % f->plan->souls, i % f->plan->souls, i % f->plan->souls,
		    texts[i % (int)NELEM(texts)]);
		atomic_fetch_add(&f->sent, 1);
		if (natsConnection_RequestString(&m, f->b->nc,
			"soul.rpc.emotion.observe", body, 3000) == NATS_OK) {
			atomic_fetch_add(&f->replied, 1);
			natsMsg_Destroy(m);
		}
		nats_Sleep(f->plan->talk_every_ms);
	}
	return NULL;
}

static void
failover_receive(struct failover *f, json_t *u)
{
	bool tick = strcmp(tk_text(u, "session_id"), "system_decay_tick") == 0;
	int64_t version = tk_int(u, "version"), gap;
	struct failover_soul *s;
	int i;

	ck_assert_int_eq(sscanf(tk_text(u, "soul_id"), "s%d", &i), 1);
	s = &f->soul[i];
	if (version <= (tick ? s->tick : s->input))
		ck_abort_msg("soul %d: %s %lld after %lld", i,
		    tick ? "tick" : "said", (long long)version,
		    (long long)(tick ? s->tick : s->input));
	/* A tick at the time of an input repeats its version; it may come
	 * first, from the other engine. */
	if (version != (tick ? s->input : s->tick))
		s->published++;
	s->newest = version > s->newest ? version : s->newest;
	if (!tick) {
		s->input = version;
		return;
	}
	if (s->ticked.ns != 0) {
		gap = mono_diff_ms(clock_mono(), s->ticked);
		s->worst = gap > s->worst ? gap : s->worst;
	}
	s->tick = version;
	s->ticked = clock_mono();
}

static void
failover_kill(struct failover *f, int i)
{
	tk_service_kill(&f->b->engine[i]);
	f->kills++;
}

/* Receive until the end; kill and restart an engine in turn. */
static void
failover_listen(struct failover *f, natsSubscription *sub)
{
	struct mono from = clock_mono();
	int64_t at, next = f->plan->kill_every_ms / 2, back = 0;
	char subject[256];
	int victim = 0;
	json_t *u;

	while ((at = mono_diff_ms(clock_mono(), from)) < f->plan->run_ms) {
		u = tk_nats_next(sub, 100, subject);
		if (u != NULL)
			failover_receive(f, u);
		json_decref(u);
		if (at >= next) {
			failover_kill(f, victim);
			back = at + f->plan->kill_every_ms / 2;
			next = at + f->plan->kill_every_ms;
		} else if (back != 0 && at >= back) {
			emotion_fixture_spawn(f->b, victim, FAILOVER_TTL);
			victim = 1 - victim;
			back = 0;
		}
	}
}

static void
failover_souls(struct emotion_fixture *b, int n)
{
	char soul[16], body[16];
	int i;

	for (i = 0; i < n; i++) {
		snprintf(soul, sizeof(soul), "s%d", i);
		snprintf(body, sizeof(body), "t%d", i);
		emotion_fixture_soul_of(b, soul, "ENTP", soul);
		emotion_fixture_online(b, body, true);
		emotion_fixture_bind(b, body, soul, soul);
	}
}

/*
 * Every version was published, except for what killed engines were processing.
 */
static void
failover_check(struct failover *f)
{
	int64_t lost = 0, worst = 0, published = 0;
	char soul[16];
	int i;

	for (i = 0; i < f->plan->souls; i++) {
		struct failover_soul *s = &f->soul[i];

		snprintf(soul, sizeof(soul), "s%d", i);
		ck_assert_int_ge(
		    emotion_fixture_version_of(f->b, soul, soul), s->newest);
		/*
		 * The first version is the initial record, which is not
		 * published.
		 */
		ck_assert_int_ge(s->newest - 1, s->published);
		lost += s->newest - 1 - s->published;
		published += s->published;
		worst = s->worst > worst ? s->worst : worst;
		ck_assert_int_lt(mono_diff_ms(clock_mono(), s->ticked),
		    FAILOVER_GAP_MS + 500);
	}
	printf("%d souls, %d kills: %lld updates published, %lld lost; %d of "
	       "%d inputs processed; at most %lld ms from tick to tick\n",
	    f->plan->souls, f->kills, (long long)published, (long long)lost,
	    atomic_load(&f->replied), atomic_load(&f->sent), (long long)worst);
	/* What is due within the poll interval. */
	ck_assert_int_le(lost, (int64_t)f->kills * (1 + f->plan->souls / 20));
	ck_assert_int_le(worst, FAILOVER_GAP_MS);
	ck_assert_int_ge(
	    atomic_load(&f->replied), atomic_load(&f->sent) - f->kills);
}

void
failover_run(const struct failover_plan *plan)
{
	struct failover f = { .plan = plan };
	natsSubscription *sub;
	pthread_t talker;
	struct emotion_fixture b;

	f.soul = mem_calloc((size_t)plan->souls, sizeof(*f.soul));
	emotion_fixture_start(&b, 2, FAILOVER_TTL);
	f.b = &b;
	sub = tk_nats_listen(b.nc, "soul.body.>");
	failover_souls(&b, plan->souls);
	ck_assert_int_eq(
	    pthread_create(&talker, NULL, failover_talk_thread, &f), 0);
	failover_listen(&f, sub);
	atomic_store(&f.stopped, true);
	pthread_join(talker, NULL);
	failover_check(&f);
	natsSubscription_Destroy(sub);
	emotion_fixture_stop(&b);
	free(f.soul);
}
