/*
 * gate: what may become a memory.  Pure.
 *
 * A language model that summarises takes questions, greetings and what the soul
 * itself remembered for news.  What a memory says must come from something that
 * the user stated; these functions find the statements, and measure a memory
 * by them.  Chinese and English are read; what is said in another language is
 * a statement unless it ends with a question mark.
 */
#ifndef MEMORY_WORKER_GATE_H
#define MEMORY_WORKER_GATE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/str.h"

/*
 * gate_statements(said, out):
 * Append the clauses that state something, a line each: no questions, no
 * greetings, thanks, or bare yes and no.
 */
void gate_statements(struct str said, struct buf *out);

struct gate {
	struct str stated;   /* what gate_statements() made of all he said */
	struct str recalled; /* memories that were found meanwhile */
	const struct str *forgotten; /* what he asked to forget */
	size_t n_forgotten;
};

/*
 * gate_admits(g, text):
 * Whether text may be remembered: it has a word of what was stated, says no
 * more of what was recalled than of that, is nothing that was to be forgotten,
 * and does not only tell that something was asked or somebody greeted.
 */
bool gate_admits(const struct gate *g, struct str text);

/* gate_stated(g, value): Whether a value of a profile was stated. */
bool gate_stated(const struct gate *g, struct str value);

#endif /* !MEMORY_WORKER_GATE_H */
