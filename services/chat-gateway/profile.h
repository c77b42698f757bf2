/*
 * profile: souls as their owner sees them: what is stored, and how they feel.
 */
#ifndef CHAT_GATEWAY_PROFILE_H
#define CHAT_GATEWAY_PROFILE_H

#include <stddef.h>

#include "core/rc.h"
#include "wire/msgs.h"

struct arena;
struct gateway;
struct soul;
struct svc_call;

/*
 * Called once, on the loop: n profiles in the memory of the call, which it
 * ends.
 */
typedef void (*profile_fn)(
    struct gateway *g, struct svc_call *c, struct wire_soul *list, size_t n);

/*
 * profile_read(g, c, souls, n, fn):
 * Ask emotion-engine for the state of each soul, all at once, and call fn.
 * Souls that have gone meanwhile are left out.  If the others' states are not
 * to be had, c is answered why instead.  souls lives as long as the call.
 */
void profile_read(struct gateway *g, struct svc_call *c,
    const struct soul *souls, size_t n, profile_fn fn);

/*
 * profile_newborn(soul, a, out):
 * The profile of a soul that has just been made: nothing has moved it yet.
 * Texts are taken from a or are soul's.  RC_TOOBIG if a is full.
 */
enum rc profile_newborn(
    const struct soul *soul, struct arena *a, struct wire_soul *out) RC_CHECK;

#endif /* !CHAT_GATEWAY_PROFILE_H */
