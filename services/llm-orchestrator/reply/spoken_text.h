/*
 * spoken_text: what of a completion is said: without the inner voice
 * (inner_voice.h), and without quotes of what the user is not to read
 * (quote_filter.h).
 *
 * The same for a stream and for the whole completion.  Not thread-safe.
 */
#ifndef LLM_ORCHESTRATOR_SPOKEN_TEXT_H
#define LLM_ORCHESTRATOR_SPOKEN_TEXT_H

#include <stddef.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/str.h"
#include "reply/inner_voice.h"
#include "reply/quote_filter.h"

/* What the model is shown, and must not quote: at most so many texts. */
#define SPOKEN_SECRETS_MAX 2
#define SPOKEN_KNOWN_MAX   32

struct spoken_rule {
	struct str secret[SPOKEN_SECRETS_MAX]; /* absent: none */
	struct str known[SPOKEN_KNOWN_MAX];    /* what the user has written */
	size_t n_known;
};

struct spoken_text {
	struct inner_voice voice;
	struct quote_filter quote;
	struct buf reply; /* what may be said, if it is no quote */
	size_t released;
};

/* spoken_text_init(s, rule), spoken_text_free(s): Begin a completion; free. */
void spoken_text_init(struct spoken_text *s, const struct spoken_rule *rule);
void spoken_text_free(struct spoken_text *s);

/*
 * spoken_text_feed(s, chunk):
 * What is to be said now, beyond what was returned before; valid until the next
 * call, possibly empty.
 */
struct str spoken_text_feed(struct spoken_text *s, struct str chunk);

/* What a whole completion is. */
struct spoken {
	struct str text;        /* to be said */
	struct str inner_voice; /* empty: none */
	struct str emotion;     /* as the model names it; empty: it does not */
	bool quoted;            /* the rest of text was left out */
};

/*
 * spoken_text_read(completion, rule, a, out):
 * It begins with all that spoken_text_feed() returned of the same.  Absent
 * texts: a is full.
 */
void spoken_text_read(struct str completion, const struct spoken_rule *rule,
    struct arena *a, struct spoken *out);

#endif /* !LLM_ORCHESTRATOR_SPOKEN_TEXT_H */
