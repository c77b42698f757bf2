/*
 * filter: a command and a catalog in, intents and a decision out.
 *
 * Pure but for its caches: no clock, no bus, no randomness; the same arguments
 * give the same response.
 */
#ifndef INTENT_FILTER_FILTER_H
#define INTENT_FILTER_FILTER_H

#include <stdbool.h>

#include "catalog/catalog.h"
#include "core/arena.h"
#include "core/clock.h"
#include "match/candidate.h"
#include "wire/msgs.h"

struct alarm_patterns;
struct clause;
struct rx_scratch;
struct skill_cache;
struct vocabulary;
struct zone;

/* The context of a command. */
struct filter_env {
	struct wall now;
	const struct zone *zone;
	const struct vocabulary *vocabulary;
	const char *locale; /* of a command that has no letters */
	struct skill_cache *skills;
	const struct alarm_patterns *alarms;
	/*
	 * Set to true unless the response is the same at any other time but for
	 * meta.now; NULL: not wanted.
	 */
	bool *now_is_used;
};

/*
 * filter_run(req, cat, env, rx, a, rep):
 * Fill *rep but for request_id and meta.latency_ms, with memory from a.  cat is
 * the compiled req->intent_catalog.  RC_INVALID if the command is not UTF-8,
 * RC_TOOBIG if a is full.
 */
enum rc filter_run(const struct wire_intent_filter_request *req,
    const struct catalog *cat, const struct filter_env *env,
    struct rx_scratch *rx, struct arena *a,
    struct wire_intent_filter_response *rep) RC_CHECK;

/*
 * selection_choose(m, p, all, n, max, dst):
 * Of n candidates of the clause those that are requested, at most max, by where
 * their evidence begins.  The strongest evidence wins; a candidate whose
 * evidence overlaps a winner's is no separate request.  Sorts all, the most
 * confident first.  Returns how many are in dst.
 */
size_t selection_choose(const struct matcher *m, const struct clause *p,
    struct candidate *all, size_t n, size_t max, struct candidate **dst);

/* selection_cmp(a, b): As strcmp(): the more confident first. */
int selection_cmp(const struct candidate *a, const struct candidate *b);

/* The decision on a command that no intent of the catalog matches. */
struct fallback {
	enum wire_decision_action action; /* fallback_reasoning or no_action */
	const char *intent_id; /* sys.fallback_reasoning, sys.no_action */
	const char *intent_name;
	const char *reason; /* a code of the protocol */
	double confidence;
};

/*
 * fallback_decide(u):
 * sys.no_action only for a command that is an exclamation or an emotion as a
 * whole; questions, tasks, greetings and unclear commands are for the language
 * model.
 */
struct fallback fallback_decide(const struct utterance *u);

#endif /* !INTENT_FILTER_FILTER_H */
