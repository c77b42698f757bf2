/*
 * clause: one segment of a command in its context, and a claim: the evidence in
 * it for an intent.  The sentence type says whether the claim is a request.
 */
#ifndef INTENT_FILTER_MATCH_CLAUSE_H
#define INTENT_FILTER_MATCH_CLAUSE_H

#include <stdbool.h>
#include <stddef.h>

#include "text/utterance.h"
#include "wire/msgs.h"

/* The evidence for an intent in a segment. */
struct claim {
	const struct text_span *spans;
	const struct wire_intent_filter_response_intents_evidence *evidence;
	size_t n;        /* of both */
	unsigned topics; /* enum phrase_topic */
	bool has_verb;   /* the evidence itself requests an action */
	/* Evidence of other intents: their verbs are not this one's. */
	const struct text_span *others;
	size_t n_others;
};

/* The segments of one command, and which of them the clause is. */
struct clause {
	const struct utterance *u;
	const struct segment *segments;
	size_t n, at;
};

/* clause_segment(p): Its segment. */
struct segment clause_segment(const struct clause *p);

/*
 * clause_is_in_reminder(p, at):
 * Whether byte at is in the content of a reminder (提醒我关灯).
 */
bool clause_is_in_reminder(const struct clause *p, size_t at);

/* claim_start(c), claim_end(c): Where its evidence begins and ends. */
size_t claim_start(const struct claim *c);
size_t claim_end(const struct claim *c);

/*
 * The sentence type of a claim.  Words that the intent's own phrases cover do
 * not count: the keyword "别放了" in a catalog is a request.
 */
enum sentence_type {
	SENTENCE_REQUEST,
	SENTENCE_PROHIBITION, /* 别开灯 */
	SENTENCE_OPPOSITE,  /* another action on the same thing: 取消闹钟 */
	SENTENCE_QUESTION,  /* 灯是什么时候发明的 */
	SENTENCE_CONDITION, /* 如果下雨就关窗 */
	SENTENCE_REPORT, /* 他说关灯, 昨天我把灯关了, 我喜欢绿色 */
	SENTENCE_DESCRIPTION /* 灯太亮了 */
};

/* sentence_type_of(p, c): The type of the clause with regard to the claim. */
enum sentence_type sentence_type_of(
    const struct clause *p, const struct claim *c);

/*
 * sentence_names_only(p, spans, n):
 * Whether the evidence consists only of names of things: 灯, 客厅.
 */
bool sentence_names_only(
    const struct clause *p, const struct text_span *spans, size_t n);

#endif /* !INTENT_FILTER_MATCH_CLAUSE_H */
