/*
 * skills: the reports of a simulated body (sections 3.3, 3.10, 7.3), and
 * parsing calls of its skills.  Pure.
 *
 * Arguments are normalized first ("变绿" is set_color, "10" is 10), then
 * validated against the schema that the body reports.
 */
#ifndef BODY_SIM_SKILLS_H
#define BODY_SIM_SKILLS_H

#include <stdint.h>

#include "body.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"
#include "wire/tree.h"

/* ---- reports ---- */

struct documents;

/* documents_new(), documents_free(d): NULL is allowed. */
struct documents *documents_new(void);
void documents_free(struct documents *d);

/*
 * documents_select(d, names):
 * Keep only the skills in names ("a,b"), and the intents of these.  RC_INVALID
 * if one is not a skill of d.
 */
enum rc documents_select(struct documents *d, struct str names) RC_CHECK;

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

/* ---- calls ---- */

/* Room for any error of skills_read(), including the NUL. */
#define SKILLS_ERROR_MAX 640

struct skills;

/* skills_new(d), skills_free(s): Those of d; NULL is allowed. */
struct skills *skills_new(const struct documents *d);
void skills_free(struct skills *s);

/*
 * skills_read(s, name, args, now, out, error):
 * args are two objects, either may be NULL; a member is taken from the first
 * one that has it.  RC_NOENT for an unknown skill, RC_INVALID for invalid
 * arguments; error then says what is wrong.
 */
enum rc skills_read(struct skills *s, struct str name,
    const struct wire_tree *const args[2], struct wall now,
    struct skill_call *out, char error[SKILLS_ERROR_MAX]) RC_CHECK;

#endif /* !BODY_SIM_SKILLS_H */
