/*
 * source: what a file says, as long as it can be used: a new content that
 * cannot leaves what was known.  Private.
 */
#ifndef AUTH_SOURCE_H
#define AUTH_SOURCE_H

#include "auth/auth_internal.h"
#include "core/metric.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/wire.h"

/* What a file is made of. */
struct auth_kind {
	const char *variable; /* that names the file */
	/* Any thread. */
	enum rc (*read)(struct str json, void **out, struct wire_err *err);
	void (*drop)(void *content);
};

/* A file, and what it said when it could be used last. */
struct auth_source {
	const struct auth_kind *kind;
	const char *path;  /* "": there is none */
	void *content;     /* NULL: nothing yet */
	struct metric *ok; /* may be NULL */
	/* Of the last look, on whatever thread it was. */
	struct auth_stamp seen;
	void *fresh; /* NULL: nothing new that can be used */
	enum rc rc;  /* of the last reading */
	bool read;   /* there was one in the last look */
	struct wire_err err;
};

/*
 * auth_source_poll(s):
 * Read the file if it has changed since the last look.  Any thread, one at a
 * time; blocks.
 *
 * auth_source_apply(s): On the loop, after it: take what is new, log what is
 * wrong.  Whether content is another now.
 */
void auth_source_poll(struct auth_source *s);
bool auth_source_apply(struct auth_source *s);

/* auth_source_free(s): Drop its contents. */
void auth_source_free(struct auth_source *s);

#endif /* !AUTH_SOURCE_H */
