/*
 * run_id: the id of a run of a coding engine:
 * <UTC yyyymmddThhmmss>-<engine>-<8 hex digits>.  The first three of the digits
 * are its bucket, its user's.  Pure.
 */
#ifndef STATE_RUN_ID_H
#define STATE_RUN_ID_H

#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"

/* Longest name of an engine (a to z, 0 to 9, _); room for an id with its NUL.
 */
#define RUN_ENGINE_MAX 32
#define RUN_ID_MAX     (15 + 1 + RUN_ENGINE_MAX + 1 + 8 + 1)

/*
 * run_id_new(user, engine, at, dst):
 * A new id of the user's, of which 20 bits are random: storing the run must
 * fail if there is one of that id.  RC_INVALID if the user's id or the engine's
 * name is.
 */
enum rc run_id_new(struct str user, struct str engine, struct wall at,
    char dst[RUN_ID_MAX]) RC_CHECK;

/*
 * run_id_bucket(id, bucket): The bucket; RC_INVALID if it is no id of a run.
 * run_id_engine(id): The engine; absent if it is no id of a run.
 */
enum rc run_id_bucket(struct str id, unsigned *bucket) RC_CHECK;
struct str run_id_engine(struct str id);

#endif /* !STATE_RUN_ID_H */
