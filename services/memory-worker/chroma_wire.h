/*
 * chroma_wire: what is said to a Chroma server (HTTP v2), and what it answers.
 * Pure.
 *
 * A row's id is user, soul and job, each as its token, with '/' between: Chroma
 * passes over a row whose id is there, so nobody's row may have another's.
 */
#ifndef MEMORY_WORKER_CHROMA_WIRE_H
#define MEMORY_WORKER_CHROMA_WIRE_H

#include <stddef.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/id.h"
#include "core/rc.h"
#include "core/str.h"
#include "rank.h"
#include "state/memory.h"
#include "wire/msgs.h"

/* Room for a row's id, and for a collection's, NUL included. */
#define CHROMA_ROW_MAX        (3 * ID_TOKEN_MAX)
#define CHROMA_COLLECTION_MAX 64

/*
 * chroma_row(scope, job_id, dst):
 * The id of a row.  RC_INVALID unless all three are ids.
 */
enum rc chroma_row(const struct memory_scope *scope, struct str job_id,
    char dst[CHROMA_ROW_MAX]) RC_CHECK;

/* What is put into a row. */
struct chroma_put {
	const struct memory_scope *scope;
	const char *row;
	const struct wire_memory_job *job;
	struct wall made;
	const double *vector;
	size_t n;
};

/*
 * Bodies, appended to out; what does not fit is known from it:
 * get_or_create of a collection whose vectors are of the model; add; query; get
 * of a page of a scope (limit 0: of one row), with texts or only ids; delete of
 * a scope, or of one row of it.  row may be NULL.
 */
void chroma_write_collection(
    const char *name, struct str model, struct buf *out);
void chroma_write_add(const struct chroma_put *p, struct buf *out);
void chroma_write_query(const struct memory_scope *scope, const double *vector,
    size_t n, size_t k, struct buf *out);
void chroma_write_get(const struct memory_scope *scope, const char *row,
    bool texts, size_t limit, size_t offset, struct buf *out);
void chroma_write_delete(
    const struct memory_scope *scope, const char *row, struct buf *out);

/*
 * chroma_read_collection(body, model, id):
 * Its id.  RC_DENIED, with the id, if its vectors are of another model or it is
 * not said of which; RC_INVALID if it is no collection.
 */
enum rc chroma_read_collection(
    struct str body, struct str model, char id[CHROMA_COLLECTION_MAX]) RC_CHECK;

struct chroma_rows {
	struct rank_memory *row; /* near is set, of a query */
	size_t n;                /* those that are read */
	size_t said;             /* those that came */
};

/*
 * chroma_read(body, scope, a, out):
 * The rows of a query or a get, but for those that are not of the scope; of a
 * get without texts only their ids.  RC_INVALID if it is no such answer,
 * RC_TOOBIG if it passes a ceiling.  Texts live in a.
 */
enum rc chroma_read(struct str body, const struct memory_scope *scope,
    struct arena *a, struct chroma_rows *out) RC_CHECK;

#endif /* !MEMORY_WORKER_CHROMA_WIRE_H */
