/* run_fixture: runs of coding engines in a state_fixture's Redis. */
#ifndef TESTKIT_RUN_FIXTURE_H
#define TESTKIT_RUN_FIXTURE_H

#include "state/run.h"

/* Events that run_fixture_publish() publishes together, of each kind. */
#define RUN_FIXTURE_EVENTS_MAX 8

/* A start of "ann" at runner "r1" that is admitted. */
struct run_new run_fixture_new(void);

/* run_fixture_create(s, id): Store it; its id. */
void run_fixture_create(struct state *s, char id[RUN_ID_MAX]);

/* run_fixture_claim(s, id, a): Its next attempt; RC_OK is asserted. */
struct run_record run_fixture_claim(
    struct state *s, const char *id, struct arena *a);

/*
 * run_fixture_publish(s, rec, status, fcmp, rasp):
 * So many events, as the writer that has *rec, whose counts rise if RC_OK.  The
 * texts of events have their numbers; questions are "ix_<attempt>".  A run of a
 * session leaves a note of its question and its end.
 */
enum rc run_fixture_publish(struct state *s, struct run_record *rec,
    enum run_status status, size_t fcmp, size_t rasp);

#endif /* !TESTKIT_RUN_FIXTURE_H */
