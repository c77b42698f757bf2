/*
 * alarms: what a body has been asked to call its user for.  Pure: time is an
 * argument.
 */
#ifndef BODY_SIM_ALARMS_H
#define BODY_SIM_ALARMS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"

/* Alarms of one body, those that rang included; bytes of a label. */
#define ALARMS_MAX      32
#define ALARM_LABEL_MAX 128

struct alarm {
	TAILQ_ENTRY(alarm) link;
	struct wall at;
	struct wall fired; /* none: it has not */
	char label[ALARM_LABEL_MAX];
};

TAILQ_HEAD(alarm_list, alarm);

/* In the order they were made. */
struct alarms {
	struct alarm_list list;
	size_t n;
};

/* alarms_init(al), alarms_free(al): None; none again. */
void alarms_init(struct alarms *al);
void alarms_free(struct alarms *al);

/*
 * alarms_add(al, at, label):
 * One more, its label cut to fit.  One that has rung makes room for it;
 * RC_RETRY if all ALARMS_MAX are still to ring.
 */
enum rc alarms_add(
    struct alarms *al, struct wall at, struct str label) RC_CHECK;

/* alarms_next(al): When the next one rings; none if none will. */
struct wall alarms_next(const struct alarms *al);

/*
 * alarms_ring(al, now):
 * The earliest that is due and has not rung, which it now has; NULL if there is
 * none (more).
 */
const struct alarm *alarms_ring(struct alarms *al, struct wall now);

#endif /* !BODY_SIM_ALARMS_H */
