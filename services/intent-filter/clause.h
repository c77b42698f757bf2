/*
 * clause: one segment of a command among the others, and a claim: what in it
 * speaks for an intent.
 */
#ifndef INTENT_FILTER_CLAUSE_H
#define INTENT_FILTER_CLAUSE_H

#include <stdbool.h>
#include <stddef.h>

#include "reading.h"
#include "segment.h"
#include "wire/msgs.h"

/* What speaks for an intent in a segment. */
struct claim {
	const struct reading_span *spans; /* its evidence */
	const struct wire_intent_filter_response_intents_evidence *evidence;
	size_t n;      /* of both */
	unsigned says; /* enum catalog_says */
	bool acts;     /* the evidence itself says that something be done */
	/* Evidence of other intents: their verbs are not this one's. */
	const struct reading_span *others;
	size_t n_others;
};

/* The segments of one command, and which of them the clause is. */
struct clause {
	const struct reading *r;
	const struct segment *segments;
	size_t n, at;
};

/* clause_here(p): The segment that it is. */
struct segment clause_here(const struct clause *p);

/* clause_has(g, w): Whether the word stands in the segment. */
bool clause_has(const struct segment *g, const struct speech_hit *w);

/* clause_text(p, w): The word as it was said. */
struct str clause_text(const struct clause *p, const struct speech_hit *w);

/* clause_rest(p, at): What of the segment follows byte at. */
struct str clause_rest(const struct clause *p, size_t at);

/*
 * clause_is_own(p, c, w):
 * Whether the claim's own words say w.  A pattern with gaps or an example like
 * the text may stand over a word that it does not know.
 */
bool clause_is_own(
    const struct clause *p, const struct claim *c, const struct speech_hit *w);

/*
 * clause_is_memo(p, at):
 * Whether byte at is part of what is only to be said later (提醒我关灯).
 */
bool clause_is_memo(const struct clause *p, size_t at);

/*
 * clause_is_name(p, at):
 * Whether it is part of a name: play Yesterday, 播放你喜欢的歌.
 */
bool clause_is_name(const struct clause *p, size_t at);

/* claim_start(c), claim_end(c): Where its evidence begins and ends. */
size_t claim_start(const struct claim *c);
size_t claim_end(const struct claim *c);

/* claim_begins_at(c, at): Whether a piece of its evidence begins at byte at. */
bool claim_begins_at(const struct claim *c, size_t at);

/* clause_does_at(r, at): Whether a verb of doing begins at byte at. */
bool clause_does_at(const struct reading *r, size_t at);

/*
 * clause_says(p, from, to, spans, n):
 * Whether anything but fillers is said in [from, to) beside the spans.
 */
bool clause_says(const struct clause *p, size_t from, size_t to,
    const struct reading_span *spans, size_t n);

/* clause_is_first(p, w): Whether nothing is said before the word. */
bool clause_is_first(const struct clause *p, const struct speech_hit *w);

/*
 * clause_has_subject(p, c):
 * Whether somebody or something else is spoken of before the claim.
 */
bool clause_has_subject(const struct clause *p, const struct claim *c);

#endif /* !INTENT_FILTER_CLAUSE_H */
