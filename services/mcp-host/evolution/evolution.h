/*
 * evolution: what may become of a capability that a soul has asked for.
 *
 * asked → proposed, if the operator's catalogue has an entry for it, or failed.
 * A human approves what was proposed, which then is enabled, or refuses it; and
 * disables what is enabled, and enables that again.  Every step is in the
 * record, and is published afterwards.
 *
 * Pure.  Texts are borrowed, or in the arena that a function is given.
 */
#ifndef EVOLUTION_H
#define EVOLUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "mcp_config.h"
#include "wire/msgs.h"

/* Evolutions of a soul that wait for a human; steps of one that are stored. */
#define EVOLUTION_OPEN_MAX  3
#define EVOLUTION_STEPS_MAX 32
/* A need that nothing was found for is the same request for so long. */
#define EVOLUTION_SAME_MS 604800000
/* Room for an id, and for a reason, NUL included. */
#define EVOLUTION_ID_MAX   40
#define EVOLUTION_TEXT_MAX 256

/* evolution_id(q, dst): The same for the same cycle of a soul. */
void evolution_id(
    const struct wire_evolution_request *q, char dst[EVOLUTION_ID_MAX]);

/*
 * evolution_clean(q, a): Make the texts of q fit to be shown, in a. RC_INVALID:
 * nothing is left of the need.
 */
enum rc evolution_clean(
    struct wire_evolution_request *q, struct arena *a) RC_CHECK;

/*
 * evolution_match(c, tenant, need):
 * The entry of the catalogue that has most to do with the need and that users
 * of the tenant may have; NULL: none has a word in common with it.
 */
const struct mcp_server *evolution_match(
    const struct mcp_config *c, struct str tenant, struct str need);

/* evolution_definition(s, dst): The digest of an entry, as it was proposed. */
void evolution_definition(const struct mcp_server *s, char dst[MCP_KEY_MAX]);

/*
 * evolution_same(list, n, q, entry, now):
 * The one of the list that q asks for once more: of the same cycle; or of the
 * same soul, and with that entry, or with no entry and for the same need.
 * entry is what would be proposed, NULL for nothing.  What was refused or
 * disabled stays so; what nothing was found for may be asked for again after
 * EVOLUTION_SAME_MS, or once there is an entry.
 * evolution_open(list, n, soul): How many of the soul wait for a human.
 * evolution_spare(list, n): The oldest that may be forgotten: one that has
 * failed, or else that was refused or disabled; NULL: none.
 */
const struct wire_evolution *evolution_same(const struct wire_evolution *list,
    size_t n, const struct wire_evolution_request *q,
    const struct mcp_server *entry, struct wall now);
size_t evolution_open(
    const struct wire_evolution *list, size_t n, struct str soul);
const struct wire_evolution *evolution_spare(
    const struct wire_evolution *list, size_t n);

/* What a need has led to. */
struct evolution_finding {
	const struct mcp_server *entry; /* NULL: nothing */
	bool had; /* the user has a server of its name already */
};

/*
 * evolution_begin(q, f, now, a, out): A new evolution: proposed or failed.
 * RC_TOOBIG: a is full.
 */
enum rc evolution_begin(const struct wire_evolution_request *q,
    const struct evolution_finding *f, struct wall now, struct arena *a,
    struct wire_evolution *out) RC_CHECK;

/* A decision of a human, and what it is about. */
struct evolution_act {
	enum wire_evolution_act_request_action action;
	struct str by;                  /* absent: not known */
	const struct mcp_server *entry; /* of the proposal, now; NULL: none */
	struct wall now;
};

enum evolution_effect {
	EVOLUTION_UNCHANGED,  /* it was decided so before */
	EVOLUTION_CHANGED,    /* e has new steps */
	EVOLUTION_ENABLES,    /* and its server becomes the user's */
	EVOLUTION_DISABLES,   /* and its server is the user's no more */
	EVOLUTION_REPROPOSED, /* the entry is another: why says so */
	EVOLUTION_REJECTED    /* it cannot be done now: why says so */
};

/*
 * evolution_decide(e, act, a, why):
 * What act makes of e, which is changed unless that is EVOLUTION_UNCHANGED or
 * EVOLUTION_REJECTED.
 */
enum evolution_effect evolution_decide(struct wire_evolution *e,
    const struct evolution_act *act, struct arena *a,
    char why[EVOLUTION_TEXT_MAX]);

/* ---- what is published ---- */

/* evolution_step(e, n): Step n, counted from 1; NULL: it is stored no more. */
const struct wire_evolution_steps *evolution_step(
    const struct wire_evolution *e, int64_t n);

/* evolution_code(state): The code of the notice: EVOLUTION_PROPOSED. */
const char *evolution_code(enum wire_evolution_steps_state state);

/* evolution_text(e, step, out): The text of the notice. */
void evolution_text(const struct wire_evolution *e,
    const struct wire_evolution_steps *step, struct buf *out);

/*
 * evolution_memory(e, n, type, out):
 * Append what the soul remembers of step n, in the operator's words alone: that
 * it has gained a skill or has lost it.  False: nothing.
 *
 * evolution_memory_before(e, n):
 * The step whose memory that of step n takes the place of; 0: none.
 */
bool evolution_memory(const struct wire_evolution *e, int64_t n,
    enum wire_memory_type *type, struct buf *out);
int64_t evolution_memory_before(const struct wire_evolution *e, int64_t n);

#endif /* !EVOLUTION_H */
