/*
 * failover: two engines, souls that tick, somebody who talks to them, and
 * engines that are killed.  What every listener may rely on is checked.
 *
 * Each state of a soul has its own version and is told once; only what an
 * engine had in hand when it was killed may be missing, at that moment.
 */
#ifndef FAILOVER_H
#define FAILOVER_H

#include <pthread.h>
#include <stdatomic.h>

#include "bed.h"
#include "core/mem.h"

#define FAILOVER_MS 2000 /* the interval */
/* Nobody sends heartbeats here. */
#define FAILOVER_TTL "SKILL_SNAPSHOT_TTL_SECONDS=86400"

struct failover_plan {
	int souls;
	int run_ms;
	int kill_every_ms; /* one engine, which comes back half that later */
	int talk_every_ms;
};

/* What was heard of a soul. */
struct failover_soul {
	int64_t tick, said; /* newest version of either kind */
	struct mono ticked;
	int64_t newest;
	int64_t told;  /* how many different versions */
	int64_t worst; /* ms between two ticks */
};

struct failover {
	struct bed *b;
	const struct failover_plan *plan;
	struct failover_soul *soul;
	atomic_bool over;
	atomic_int asked, answered;
	int kills;
};

/* Say something to one soul after another; engines die under it. */
static inline void *
failover_talk(void *arg)
{
	static const char *const words[] = { "我很开心", "气死我了！", "谢谢你",
		"我好害怕" };
	struct failover *f = arg;
	char body[256];
	natsMsg *m;
	int i;

	for (i = 0; !atomic_load(&f->over); i++) {
		snprintf(body, sizeof(body),
		    "{\"soul_id\":\"s%d\",\"session_id\":\"said\","
		    "\"terminal_id\":\"t%d\",\"text\":\"%s\"}",
		    i % f->plan->souls, i % f->plan->souls,
		    words[i % (int)NELEM(words)]);
		atomic_fetch_add(&f->asked, 1);
		if (natsConnection_RequestString(&m, f->b->nc,
			"soul.rpc.emotion.observe", body, 3000) == NATS_OK) {
			atomic_fetch_add(&f->answered, 1);
			natsMsg_Destroy(m);
		}
		nats_Sleep(f->plan->talk_every_ms);
	}
	return NULL;
}

static inline void
failover_hear(struct failover *f, json_t *u)
{
	bool tick = strcmp(tk_text(u, "session_id"), "system_decay_tick") == 0;
	int64_t version = tk_int(u, "version"), gap;
	struct failover_soul *s;
	int i;

	ck_assert_int_eq(sscanf(tk_text(u, "soul_id"), "s%d", &i), 1);
	s = &f->soul[i];
	if (version <= (tick ? s->tick : s->said))
		ck_abort_msg("soul %d: %s %lld after %lld", i,
		    tick ? "tick" : "said", (long long)version,
		    (long long)(tick ? s->tick : s->said));
	/* A tick in the very moment of an input tells the same again. */
	if (version != s->said)
		s->told++;
	s->newest = version > s->newest ? version : s->newest;
	if (!tick) {
		s->said = version;
		return;
	}
	if (s->ticked.ns != 0) {
		gap = mono_diff_ms(clock_mono(), s->ticked);
		s->worst = gap > s->worst ? gap : s->worst;
	}
	s->tick = version;
	s->ticked = clock_mono();
}

static inline void
failover_kill(struct failover *f, int i)
{
	tk_service_kill(&f->b->engine[i]);
	f->kills++;
}

/* Hear for so long; kill an engine when it is time, and let it come back. */
static inline void
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
			failover_hear(f, u);
		json_decref(u);
		if (at >= next) {
			failover_kill(f, victim);
			back = at + f->plan->kill_every_ms / 2;
			next = at + f->plan->kill_every_ms;
		} else if (back != 0 && at >= back) {
			bed_spawn(f->b, victim, FAILOVER_TTL);
			victim = 1 - victim;
			back = 0;
		}
	}
}

static inline void
failover_souls(struct bed *b, int n)
{
	char soul[16], body[16];
	int i;

	for (i = 0; i < n; i++) {
		snprintf(soul, sizeof(soul), "s%d", i);
		snprintf(body, sizeof(body), "t%d", i);
		bed_soul_of(b, soul, "ENTP", soul);
		bed_online(b, body, true);
		ck_assert_int_eq(terminal_bind(b->db.s, str_of(body),
				     str_of(soul), str_of(soul)),
		    RC_OK);
	}
}

/* All states that Redis has seen were told, but for those in dying hands. */
static inline void
failover_check(struct failover *f)
{
	int64_t lost = 0, worst = 0, told = 0;
	char soul[16];
	int i;

	for (i = 0; i < f->plan->souls; i++) {
		struct failover_soul *s = &f->soul[i];

		snprintf(soul, sizeof(soul), "s%d", i);
		ck_assert_int_ge(bed_version(f->b, soul), s->newest);
		/* The first is that of the newborn, which nobody is told. */
		ck_assert_int_ge(s->newest - 1, s->told);
		lost += s->newest - 1 - s->told;
		told += s->told;
		worst = s->worst > worst ? s->worst : worst;
		ck_assert_int_lt(mono_diff_ms(clock_mono(), s->ticked),
		    2 * FAILOVER_MS + 500);
	}
	printf("%d souls, %d kills: %lld updates told, %lld not; %d of %d "
	       "inputs answered; at most %lld ms from tick to tick\n",
	    f->plan->souls, f->kills, (long long)told, (long long)lost,
	    atomic_load(&f->answered), atomic_load(&f->asked),
	    (long long)worst);
	/* What fell due within the twentieth of a second that a poll takes. */
	ck_assert_int_le(lost, (int64_t)f->kills * (1 + f->plan->souls / 20));
	ck_assert_int_le(worst, 2 * FAILOVER_MS);
	ck_assert_int_ge(
	    atomic_load(&f->answered), atomic_load(&f->asked) - f->kills);
}

static inline void
failover_run(const struct failover_plan *plan)
{
	struct failover f = { .plan = plan };
	natsSubscription *sub;
	pthread_t talker;
	struct bed b;

	f.soul = mem_calloc((size_t)plan->souls, sizeof(*f.soul));
	bed_start(&b, 2, FAILOVER_TTL);
	f.b = &b;
	sub = tk_nats_listen(b.nc, "soul.body.>");
	failover_souls(&b, plan->souls);
	ck_assert_int_eq(pthread_create(&talker, NULL, failover_talk, &f), 0);
	failover_listen(&f, sub);
	atomic_store(&f.over, true);
	pthread_join(talker, NULL);
	failover_check(&f);
	natsSubscription_Destroy(sub);
	bed_stop(&b);
	free(f.soul);
}

#endif /* !FAILOVER_H */
