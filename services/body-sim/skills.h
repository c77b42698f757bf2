/*
 * skills: from a skill's name and arguments to what the body is to do.
 *
 * What people and language models say for a value becomes the value ("变绿" is
 * set_color, "10" is 10), then the arguments are checked against the schema
 * that the body itself reports.  Pure but for the compiled schemas.
 */
#ifndef BODY_SIM_SKILLS_H
#define BODY_SIM_SKILLS_H

#include "alarms.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "documents.h"
#include "face.h"
#include "wire/msgs.h"
#include "wire/tree.h"

/* Room for any reason of skills_read(), NUL included. */
#define SKILLS_WHY_MAX 640

enum skill { SKILL_LIGHT, SKILL_ALARM, SKILL_HEAD, SKILL_N };

/* What to do; only the members of the skill count. */
struct skill_call {
	enum skill skill;
	enum wire_body_state_color color; /* light */
	struct wall at;                   /* alarm */
	char label[ALARM_LABEL_MAX];
	enum face_motion motion; /* head */
	double seconds;
};

struct skills;

/* skills_new(d), skills_free(s): Compile d's schemas; NULL is allowed. */
struct skills *skills_new(const struct documents *d);
void skills_free(struct skills *s);

/* skill_name(s): As it is reported. */
const char *skill_name(enum skill s);

/*
 * skills_read(s, name, args, now, out, why):
 * args are two objects, either may be NULL; a member is taken from the first
 * that has it.  RC_NOENT for an unknown skill, RC_INVALID for wrong arguments;
 * why then says what is wrong.
 */
enum rc skills_read(struct skills *s, struct str name,
    const struct wire_tree *const args[2], struct wall now,
    struct skill_call *out, char why[SKILLS_WHY_MAX]) RC_CHECK;

#endif /* !BODY_SIM_SKILLS_H */
