/*
 * quote_filter: finds where a growing text quotes one that must not be quoted.
 *
 * A quote is a run of twelve wide characters (36 narrow ones), or all of a
 * shorter text of at least six (18), as it stands or backwards.  Only letters
 * and digits are compared, in either case and width: spaces, line ends and
 * punctuation between them change nothing.  What stands in a known text may be
 * quoted.  Translations, encodings and paraphrases are not found.
 *
 * Not thread-safe.  A character of the text costs a step per character of the
 * secrets.
 */
#ifndef LLM_ORCHESTRATOR_QUOTE_FILTER_H
#define LLM_ORCHESTRATOR_QUOTE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

/* Letters and digits of a secret and of the known text; the rest is ignored. */
#define QUOTE_SECRET_MAX 512
#define QUOTE_KNOWN_MAX  4096

struct quote_cell {
	int32_t c;       /* folded; 0: between two secrets */
	unsigned least;  /* weight of a quote that ends here */
	unsigned weight; /* of the run that ends here */
	size_t n, start; /* of the run: letters, its first byte in the text */
};

struct quote_filter {
	struct quote_cell *cells; /* NULL: nothing is secret */
	size_t n_cells;
	int32_t *known;
	size_t n_known;
	size_t checked, held; /* bytes of the text */
	bool blocked;         /* it quotes */
};

/*
 * quote_filter_init(f): Nothing is secret.
 * quote_filter_add(f, secret): Before the first text; empty: nothing.
 * quote_filter_allow(f, known): What the user has written may be quoted.
 * quote_filter_free(f).
 */
void quote_filter_init(struct quote_filter *f);
void quote_filter_add(struct quote_filter *f, struct str secret);
void quote_filter_allow(struct quote_filter *f, struct str known);
void quote_filter_free(struct quote_filter *f);

/*
 * quote_filter_released(f, text, end):
 * How many bytes of text may be shown: not the beginning of what may become a
 * quote.  text is all that has arrived so far, and only grows from call to
 * call; end: it is whole.  f->blocked: the text beyond is never shown.
 */
size_t quote_filter_released(struct quote_filter *f, struct str text, bool end);

#endif /* !LLM_ORCHESTRATOR_QUOTE_FILTER_H */
