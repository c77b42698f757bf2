/*
 * face: what a body shows of what its user feels: protocol section 3.8's table
 * of 15 emotions, with the original body's thresholds and durations.  Pure.
 */
#ifndef BODY_SIM_FACE_H
#define BODY_SIM_FACE_H

#include "wire/msgs.h"

enum face_expression {
	FACE_SMILE,
	FACE_LAUGH,
	FACE_ANGRY,
	FACE_CRY,
	FACE_UNHAPPY
};

enum face_motion { FACE_STILL, FACE_NOD, FACE_SHAKE };

struct face {
	enum face_expression expression;
	enum face_motion motion;
	double seconds; /* that the motion takes; 0 if there is none */
};

/* face_of(e, intensity): The reaction to an emotion, intensity in [0, 1]. */
struct face face_of(enum wire_emotion e, double intensity);

/*
 * face_expression_name(e), face_motion_name(m):
 * As bodies call them: "微笑", "点头"; "" of FACE_STILL.  Never NULL.
 */
const char *face_expression_name(enum face_expression e);
const char *face_motion_name(enum face_motion m);

#endif /* !BODY_SIM_FACE_H */
