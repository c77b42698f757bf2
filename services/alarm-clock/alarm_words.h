/*
 * alarm_words: what is spoken when something rings, and what is reported of it.
 * Pure.
 */
#ifndef ALARM_CLOCK_ALARM_WORDS_H
#define ALARM_CLOCK_ALARM_WORDS_H

#include <stdint.h>

#include "core/arena.h"
#include "core/str.h"
#include "wire/msgs.h"

/*
 * alarm_words_ring(r, lag_s, a):
 * What is spoken for the occurrence of r, lag_s after its time; 0: it does not
 * say so.  In Chinese unless the text of r is in another script.  In a; absent
 * if that is full.
 */
struct str alarm_words_ring(
    const struct wire_alarm_record *r, int64_t lag_s, struct arena *a);

/* alarm_words_title(r, a): A name for it, for lists. */
struct str alarm_words_title(
    const struct wire_alarm_record *r, struct arena *a);

#endif /* !ALARM_CLOCK_ALARM_WORDS_H */
