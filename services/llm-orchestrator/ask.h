/*
 * ask: requests to other services, as part of a turn.
 *
 * A request that nobody took is sent again until its time is up, unless it says
 * otherwise: a service that is just being restarted is waited for.  What may
 * have reached somebody is sent again only if it says so.
 */
#ifndef LLM_ORCHESTRATOR_ASK_H
#define LLM_ORCHESTRATOR_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"

struct ask;
struct run;
struct wire_desc;

/* Room for any subject, NUL included. */
#define ASK_SUBJECT_MAX 512

/*
 * What came of it: RC_OK and the message, taken from the turn's arena.
 * Otherwise: RC_NOENT if it reached nobody; RC_TIMEOUT if nobody answered, or
 * the connection broke, after it was sent; RC_INVALID if the answer is not the
 * message it should be; else the code of an error answer.
 */
typedef void (*ask_fn)(struct run *r, size_t deed, enum rc rc, const void *msg);

struct ask_opts {
	const char *subject;
	const struct wire_desc *request; /* of msg; NULL: json is sent */
	const void *msg;
	struct str json;
	const struct wire_desc *reply;
	int64_t timeout_ms;
	int64_t resend_ms; /* as in struct bus_meta; 0: sent once */
	/* Nothing may be done after that, whoever still waits for the answer;
	 * {0}: no such moment.  Not with resend_ms. */
	struct wall act_by;
	bool once;   /* if nobody takes it, that is the answer */
	size_t deed; /* handed to fn */
	ask_fn fn;
};

/*
 * ask_send(r, opts):
 * Send, and call fn once, never from inside ask_send(), unless the turn ends
 * before.  All is copied.
 */
void ask_send(struct run *r, const struct ask_opts *opts);

/* ask_cancel_all(r): Nothing more is answered. */
void ask_cancel_all(struct run *r);

/*
 * ask_subject(dst, fmt, a, b):
 * The subject of one or two ids (b absent: one): fmt is a WIRE_SUBJECT_FMT_x.
 * RC_INVALID if one of them is no id.
 */
enum rc ask_subject(char dst[ASK_SUBJECT_MAX], const char *fmt, struct str a,
    struct str b) RC_CHECK;

#endif /* !LLM_ORCHESTRATOR_ASK_H */
