/*
 * documents: what a simulated body reports of itself: its skills (protocol
 * sections 3.3, 7.3) and its intents (3.10).  Pure.
 */
#ifndef BODY_SIM_DOCUMENTS_H
#define BODY_SIM_DOCUMENTS_H

#include <stdint.h>

#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"

struct documents;

/* documents_new(), documents_free(d): Read once; NULL is allowed. */
struct documents *documents_new(void);
void documents_free(struct documents *d);

/* documents_skill(d, name): The skill as it is reported, or NULL. */
const struct wire_skill *documents_skill(
    const struct documents *d, struct str name);

/*
 * documents_skills(d, terminal, hint, version, out):
 * documents_intents(d, terminal, version, out):
 * Append the report as JSON; hint may be empty.
 */
enum rc documents_skills(const struct documents *d, struct str terminal,
    struct str hint, int64_t version, struct buf *out) RC_CHECK;
enum rc documents_intents(const struct documents *d, struct str terminal,
    int64_t version, struct buf *out) RC_CHECK;

#endif /* !BODY_SIM_DOCUMENTS_H */
