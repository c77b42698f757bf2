/* codec: decoding and encoding in tests, with the required memory. */
#ifndef TESTS_WIRE_CODEC_H
#define TESTS_WIRE_CODEC_H

#include <stdlib.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/mem.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

/* One message: its arena, struct, text, and error. */
struct codec {
	struct arena *a;
	void *msg;
	struct buf out;
	struct wire_err err;
	enum rc rc;
};

/* Decode text as d into c, which codec_free() frees. */
static inline void
codec_read(struct codec *c, const struct wire_desc *d, struct str text)
{
	*c = (struct codec){ .a = arena_new(WIRE_ARENA_MAX),
		.msg = mem_alloc(wire_desc_size(d)),
		.out = BUF_INIT(2 * WIRE_MESSAGE_MAX) };
	/* The previous content must not matter. */
	memset(c->msg, 0xa5, wire_desc_size(d));
	c->rc = wire_decode(d, text, c->a, c->msg, &c->err);
}

/* As codec_read(), then encode it into c->out. */
static inline void
codec_both(struct codec *c, const struct wire_desc *d, struct str text)
{
	codec_read(c, d, text);
	if (c->rc == RC_OK)
		c->rc = wire_encode(d, c->msg, &c->out, &c->err);
}

static inline void
codec_free(struct codec *c)
{
	arena_free(c->a);
	free(c->msg);
	buf_free(&c->out);
}

/* An invalid message: the path of its error, and a part of the reason. */
struct codec_bad {
	const char *text;
	const char *path;
	const char *why;
};

static inline void
codec_reject(const struct wire_desc *d, const struct codec_bad *bad)
{
	struct codec c;
	codec_read(&c, d, str_of(bad->text));
	ck_assert_msg(c.rc == RC_INVALID, "%s: rc %d", bad->text, (int)c.rc);
	ck_assert_msg(strcmp(c.err.path, bad->path) == 0, "%s: at %s, not %s",
	    bad->text, c.err.path, bad->path);
	ck_assert_msg(strstr(c.err.why, bad->why) != NULL, "%s: %s, not %s",
	    bad->text, c.err.why, bad->why);
	codec_free(&c);
}

#endif /* !TESTS_WIRE_CODEC_H */
