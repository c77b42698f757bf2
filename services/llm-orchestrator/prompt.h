/*
 * prompt: what a language model is told of the soul it speaks for, in every
 * call anew.
 *
 * Pure: who the soul is, how it and its user feel, the gate, the body, what was
 * talked about before, how it gets along with whom it is about, the rules.
 */
#ifndef LLM_ORCHESTRATOR_PROMPT_H
#define LLM_ORCHESTRATOR_PROMPT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/str.h"
#include "wire/msgs.h"

enum prompt_body {
	PROMPT_BODY_NONE,   /* nothing is known of it */
	PROMPT_BODY_ABSENT, /* it is not there now */
	PROMPT_BODY_HERE
};

struct prompt {
	struct str name, mbti; /* of the soul; absent: not known */
	struct str now;        /* RFC 3339, in the user's zone */
	/* NULL: not known, and so the gate is closed */
	const struct wire_emotion_observe_reply *feeling;
	enum prompt_body body;
	size_t skills;      /* how many tools are skills */
	struct str safe;    /* names of those that the gate does not hold back;
			       empty: none */
	struct str said;    /* by the user, now */
	struct str late;    /* what came of earlier turns; empty: nothing */
	bool recall;        /* memories can be searched */
	bool forget;        /* memories can be forgotten */
	struct str summary; /* of the conversation before; absent: none */
	bool silent;        /* nothing is to be done in this turn */
	struct str rest;    /* the part that is still to be answered; empty:
			       all of it */
};

/* prompt_write(p, out): Append the system text. */
void prompt_write(const struct prompt *p, struct buf *out);

#endif /* !LLM_ORCHESTRATOR_PROMPT_H */
