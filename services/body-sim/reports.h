/*
 * reports: what a body's skills and intent_catalog say, judged more strictly
 * than the server takes them.  Pure.
 */
#ifndef BODY_SIM_REPORTS_H
#define BODY_SIM_REPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/map.h"
#include "core/str.h"
#include "verdict.h"

/* Room for any result of said. */
#define REPORTS_SAID_MAX 96

struct reports {
	struct verdicts *v;
	struct str terminal; /* borrowed */
	struct arena *arena;
	struct map *skills; /* names of the last report; NULL: none yet */
	struct map *wanted; /* skills of the last catalog's intents; likewise */
	int64_t versions[2]; /* of skills and catalog; -1: none yet */
};

/* reports_init(r, v, terminal), reports_free(r): terminal is kept. */
void reports_init(struct reports *r, struct verdicts *v, struct str terminal);
void reports_free(struct reports *r);

/*
 * reports_skills(r, payload, said), reports_intents(r, payload, said):
 * Judge a report; said gets a few words about it.
 */
void reports_skills(
    struct reports *r, struct str payload, char said[REPORTS_SAID_MAX]);
void reports_intents(
    struct reports *r, struct str payload, char said[REPORTS_SAID_MAX]);

#endif /* !BODY_SIM_REPORTS_H */
