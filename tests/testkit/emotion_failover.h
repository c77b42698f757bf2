/*
 * emotion_failover: two engines that are killed in turn while souls tick and a
 * user talks to them.
 */
#ifndef TESTKIT_EMOTION_FAILOVER_H
#define TESTKIT_EMOTION_FAILOVER_H

struct failover_plan {
	int souls;
	int run_ms;
	int kill_every_ms; /* one engine, restarted half that time later */
	int talk_every_ms;
};

/* failover_run(plan): Run it and check the published versions. */
void failover_run(const struct failover_plan *plan);

#endif /* !TESTKIT_EMOTION_FAILOVER_H */
