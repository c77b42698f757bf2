/*
 * alarm_phrase: commands to the server's alarms, of any terminal: set, list,
 * change, cancel.
 *
 * The whole text must be such a command, so that no other sentence about alarms
 * sets or cancels one; what is phrased otherwise is for the language model.
 */
#ifndef INTENT_FILTER_SYSTEM_ALARM_PHRASE_H
#define INTENT_FILTER_SYSTEM_ALARM_PHRASE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/str.h"
#include "text/utterance.h"

struct alarm_patterns;
struct rx_scratch;

enum alarm_act {
	ALARM_ACT_SET,
	ALARM_ACT_LIST,
	ALARM_ACT_CHANGE,
	ALARM_ACT_CANCEL,
};

/* Texts are from the arena, or of the command. */
struct alarm_phrase {
	enum alarm_act act;
	const char *kind; /* SET: alarm, timer, reminder */
	struct str when;  /* SET, CHANGE: the new time; absent: none */
	/* Of the alarms that are meant: their time, their text. */
	struct str select;
	struct str text; /* SET: what to say; "": nothing */
	bool all;        /* LIST, CANCEL: all of them were named */
};

/* alarm_patterns_new(), alarm_patterns_free(p): NULL is allowed. */
struct alarm_patterns *alarm_patterns_new(void);
void alarm_patterns_free(struct alarm_patterns *p);

/*
 * alarm_phrase_find(p, rx, u, g, a, out):
 * Whether the segment g of u is a command to the alarms.  False also if a is
 * full.
 */
bool alarm_phrase_find(const struct alarm_patterns *p, struct rx_scratch *rx,
    const struct utterance *u, const struct segment *g, struct arena *a,
    struct alarm_phrase *out);

#endif /* !INTENT_FILTER_SYSTEM_ALARM_PHRASE_H */
