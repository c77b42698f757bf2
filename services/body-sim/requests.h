/*
 * requests: the ids of the last requests of a body and its answers to them, so
 * that what is delivered twice acts once.  Pure.
 */
#ifndef BODY_SIM_REQUESTS_H
#define BODY_SIM_REQUESTS_H

#include <stdbool.h>

#include "core/str.h"

/* How many are remembered. */
#define REQUESTS_MAX 64

struct requests;

/* requests_new(), requests_free(r): None yet; NULL is allowed. */
struct requests *requests_new(void);
void requests_free(struct requests *r);

/*
 * requests_first(r, id):
 * Whether id has not been seen; from now on it has, in place of the oldest.
 */
bool requests_first(struct requests *r, struct str id);

/* requests_answer(r, id, answer): Remember a copy, if id is remembered. */
void requests_answer(struct requests *r, struct str id, struct str answer);

/* requests_answered(r, id): That copy; absent if there is none. */
struct str requests_answered(const struct requests *r, struct str id);

#endif /* !BODY_SIM_REQUESTS_H */
