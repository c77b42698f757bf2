/*
 * clause: one segment of a command, and what in it speaks for an intent.
 */
#ifndef INTENT_FILTER_CLAUSE_H
#define INTENT_FILTER_CLAUSE_H

#include <stdbool.h>
#include <stddef.h>

#include "reading.h"
#include "segment.h"
#include "wire/msgs.h"

/* What speaks for an intent in a segment. */
struct mood_claim {
	const struct reading_span *spans; /* its evidence */
	const struct wire_intent_filter_response_intents_evidence *evidence;
	size_t n;      /* of both */
	unsigned says; /* enum catalog_says */
	bool acts;     /* the evidence itself says that something be done */
	/* Evidence of other intents: their verbs are not this one's. */
	const struct reading_span *others;
	size_t n_others;
};

/* The segments of one command, and which of them is meant. */
struct mood_place {
	const struct reading *r;
	const struct segment *segments;
	size_t n, at;
};

/* clause_here(p): The segment that is meant. */
struct segment clause_here(const struct mood_place *p);

/* clause_has(g, w): Whether the word stands in the segment. */
bool clause_has(const struct segment *g, const struct speech_hit *w);

/* clause_text(p, w): The word as it was said. */
struct str clause_text(const struct mood_place *p, const struct speech_hit *w);

/* clause_rest(p, at): What of the segment follows byte at. */
struct str clause_rest(const struct mood_place *p, size_t at);

/*
 * clause_is_own(p, c, w):
 * Whether the claim's own words say w.  A pattern with gaps or an example like
 * the text may stand over a word that it does not know.
 */
bool clause_is_own(const struct mood_place *p, const struct mood_claim *c,
    const struct speech_hit *w);

/*
 * clause_is_memo(p, at):
 * Whether byte at is part of what is only to be said later (提醒我关灯).
 */
bool clause_is_memo(const struct mood_place *p, size_t at);

/* clause_is_name(p, at): Whether it is part of a name: play Yesterday. */
bool clause_is_name(const struct mood_place *p, size_t at);

/* claim_start(c): Where its evidence begins. */
size_t claim_start(const struct mood_claim *c);

/* claim_begins_at(c, at): Whether a piece of its evidence begins at byte at. */
bool claim_begins_at(const struct mood_claim *c, size_t at);

/* clause_does_at(r, at): Whether a verb of doing begins at byte at. */
bool clause_does_at(const struct reading *r, size_t at);

/*
 * clause_says(p, from, to, spans, n):
 * Whether anything but fillers is said in [from, to) beside the spans.
 */
bool clause_says(const struct mood_place *p, size_t from, size_t to,
    const struct reading_span *spans, size_t n);

/* clause_is_first(p, w): Whether nothing is said before the word. */
bool clause_is_first(const struct mood_place *p, const struct speech_hit *w);

/*
 * clause_has_subject(p, c):
 * Whether somebody or something else is spoken of before the claim.
 */
bool clause_has_subject(const struct mood_place *p, const struct mood_claim *c);

#endif /* !INTENT_FILTER_CLAUSE_H */
