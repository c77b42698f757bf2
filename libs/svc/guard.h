/*
 * guard: who may ask over HTTP what, and in whose name.  Private to svc.
 *
 * Each request is looked at before its handler: the token (401), how often it
 * is used (429), whether the holder's role may ask the route (403), and whether
 * the user and the body that the request names are his (403).  What a handler
 * reads of them is then the full id.
 */
#ifndef SVC_GUARD_H
#define SVC_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/id.h"
#include "core/rc.h"
#include "core/str.h"

struct buf;
struct svc;
struct svc_call;
struct svc_conf;
struct svc_def;
struct svc_guard;

/*
 * guard_conf_check(def, conf, errors):
 * What does not let the service start with it: a line each, that says what to
 * set.  Reads the files.
 */
void guard_conf_check(
    const struct svc_def *def, const struct svc_conf *conf, struct buf *errors);

/* guard_conf_warn(conf): Log what is allowed but open. */
void guard_conf_warn(const struct svc_conf *conf);

/*
 * guard_start(s): Make s->guard, if callers are to be known.  RC_INVALID: a
 * file cannot be used; the log says why.
 * guard_stop(s): Free it.  No call is open any more.
 */
enum rc guard_start(struct svc *s) RC_CHECK;
void guard_stop(struct svc *s);

/* guard_enter(c): Serve c, of HTTP, now or later, or refuse it. */
void guard_enter(struct svc_call *c);

/*
 * guard_checks_request(c):
 * After the request was decoded: the user and the body it names in its members
 * user_id and terminal_id; what it leaves out becomes the caller's.  False: c
 * was refused.
 */
bool guard_checks_request(struct svc_call *c);

/* Room for tenant, user and body, NUL included. */
#define GUARD_BODY_MAX (3 * (ID_MAX + 1))

/* What a request costs, for the token and the body that are to pay. */
struct guard_bill {
	struct svc_guard *g; /* NULL: nobody is */
	uint64_t token;
	struct str body; /* absent: it names none */
	char text[GUARD_BODY_MAX];
	size_t bytes;
	int64_t began_ns; /* of this thread's processor time */
	int64_t other_ns; /* of another thread's */
};

/*
 * guard_body(c, terminal, dst):
 * What a body is counted under: nobody uses up what is another user's.
 */
struct str guard_body(
    const struct svc_call *c, struct str terminal, char dst[GUARD_BODY_MAX]);

/*
 * guard_thread_ns(): The processor time of the thread that asks.
 *
 * guard_bill_begin(b, c, other_ns): c is about to be read; so much processor
 *                         time another thread has spent on it.
 * guard_bill_body(b, c):  It is read, and guard_checks_request().
 * guard_bill_end(b):      It was handed on; c may be gone.  What it took of
 *                         bytes and time counts as so many requests more.
 */
int64_t guard_thread_ns(void);
void guard_bill_begin(
    struct guard_bill *b, const struct svc_call *c, int64_t other_ns);
void guard_bill_body(struct guard_bill *b, struct svc_call *c);
void guard_bill_end(struct guard_bill *b);

/* guard_leave(c): c ends. */
void guard_leave(struct svc_call *c);

#endif /* !SVC_GUARD_H */
