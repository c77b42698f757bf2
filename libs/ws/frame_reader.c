/*
 * frame_reader: on wslay's frame interface.
 *
 * wslay reads heads, unmasks, and rejects lengths that are not minimal and
 * control frames that are long or fragmented; the rest of the rules is here.
 * Its context holds 4 KiB, so it is borrowed from a pool and returned when all
 * bytes that were fed are used, which they are between frames.
 */
#include "ws/frame_reader.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <wslay/wslay.h>

#include "core/buf.h"
#include "core/mem.h"
#include "ws/utf8_reader.h"

/* Contexts that are kept for the next readers. */
#define POOL_MAX 64

struct frame_parser {
	SLIST_ENTRY(frame_parser) link;
	wslay_frame_context_ptr ctx;
	/* What is being fed. */
	const unsigned char *p;
	size_t n;
	/* The payload of a control frame. */
	uint8_t n_control;
	unsigned char control[WS_CONTROL_MAX];
};

struct frame_reader_pool {
	SLIST_HEAD(, frame_parser) unused;
	size_t n_unused;
};

struct frame_reader {
	struct frame_reader_pool *pool;
	struct frame_reader_handler h;
	struct frame_parser *parser; /* NULL: between frames */
	size_t message_max;
	struct buf message; /* the fragments so far */
	struct utf8_reader utf8;
	/* Bytes that were fed, and those of frames: no part of a head is left
	 * in the parser if they are equal. */
	uint64_t fed, parsed;
	/* The current frame; its head has been read. */
	uint64_t length, used; /* bytes of its payload */
	uint8_t opcode;
	bool fin;
	bool in_frame;
	bool in_message; /* its last fragment is still to come */
	bool binary;
	bool ended;
};

/* ---- the pool ---- */

static ssize_t
parser_on_recv(uint8_t *dst, size_t n, int flags, void *arg)
{
	struct frame_parser *p = arg;

	(void)flags;
	if (p->n == 0)
		return -1;
	if (n > p->n)
		n = p->n;
	memcpy(dst, p->p, n);
	p->p += n;
	p->n -= n;
	return (ssize_t)n;
}

struct frame_reader_pool *
frame_reader_pool_new(void)
{
	struct frame_reader_pool *pool = mem_zalloc(sizeof(*pool));

	SLIST_INIT(&pool->unused);
	return pool;
}

static void
parser_free(struct frame_parser *p)
{
	wslay_frame_context_free(p->ctx);
	free(p);
}

void
frame_reader_pool_free(struct frame_reader_pool *pool)
{
	struct frame_parser *p;

	if (pool == NULL)
		return;
	while ((p = SLIST_FIRST(&pool->unused)) != NULL) {
		SLIST_REMOVE_HEAD(&pool->unused, link);
		parser_free(p);
	}
	free(pool);
}

static struct frame_parser *
parser_get(struct frame_reader_pool *pool)
{
	static const struct wslay_frame_callbacks callbacks = {
		.recv_callback = parser_on_recv
	};
	struct frame_parser *p = SLIST_FIRST(&pool->unused);

	if (p != NULL) {
		SLIST_REMOVE_HEAD(&pool->unused, link);
		pool->n_unused--;
		return p;
	}
	p = mem_zalloc(sizeof(*p));
	if (wslay_frame_context_init(&p->ctx, &callbacks, p) != 0)
		abort();
	return p;
}

/* Only between frames: a context has a part of one otherwise. */
static void
parser_put(struct frame_reader_pool *pool, struct frame_parser *p)
{
	if (pool->n_unused == POOL_MAX) {
		parser_free(p);
		return;
	}
	SLIST_INSERT_HEAD(&pool->unused, p, link);
	pool->n_unused++;
}

struct frame_reader *
frame_reader_new(struct frame_reader_pool *p,
    const struct frame_reader_handler *h, size_t message_max)
{
	struct frame_reader *r = mem_zalloc(sizeof(*r));

	r->pool = p;
	r->h = *h;
	r->message_max = message_max;
	buf_init(&r->message, message_max);
	return r;
}

void
frame_reader_set_max(struct frame_reader *r, size_t message_max)
{
	r->message_max = message_max;
}

void
frame_reader_free(struct frame_reader *r)
{
	if (r == NULL)
		return;
	if (r->parser != NULL)
		parser_free(r->parser);
	buf_free(&r->message);
	free(r);
}

size_t
frame_reader_memory(const struct frame_reader *r)
{
	return sizeof(*r) + r->message.cap;
}

/* ---- frames ---- */

static enum ws_close
frame_violates(const char **why, const char *text)
{
	*why = text;
	return WS_CLOSE_PROTOCOL;
}

static unsigned
frame_head_length(uint64_t payload)
{
	return 2 + (payload < 126 ? 0 : payload < 65536 ? 2 : 8) + 4;
}

/* A frame's head has been read. */
static enum ws_close
frame_begin(
    struct frame_reader *r, const struct wslay_frame_iocb *f, const char **why)
{
	bool control = wslay_is_ctrl_frame(f->opcode);

	if (f->rsv != WSLAY_RSV_NONE)
		return frame_violates(why, "a reserved bit is set");
	if (!f->mask)
		return frame_violates(why, "the frame is not masked");
	if (control ? f->opcode > WSLAY_PONG : f->opcode > WSLAY_BINARY_FRAME)
		return frame_violates(why, "the opcode is reserved");
	if (f->opcode == WSLAY_CONTINUATION_FRAME && !r->in_message)
		return frame_violates(why, "there is no message to continue");
	if (!control && f->opcode != WSLAY_CONTINUATION_FRAME && r->in_message)
		return frame_violates(why, "the message before is not whole");
	/* wslay rejects a length of 2^63. */
	if (!control && r->message.n + f->payload_length > r->message_max) {
		*why = "the message is too long";
		return WS_CLOSE_TOO_BIG;
	}
	if (f->opcode == WSLAY_TEXT_FRAME || f->opcode == WSLAY_BINARY_FRAME) {
		r->binary = f->opcode == WSLAY_BINARY_FRAME;
		r->in_message = true;
		r->utf8 = (struct utf8_reader){ 0 };
	}
	r->opcode = f->opcode;
	r->fin = f->fin;
	r->length = f->payload_length;
	r->used = 0;
	r->parser->n_control = 0;
	r->in_frame = true;
	r->parsed += frame_head_length(f->payload_length);
	return WS_CLOSE_NONE;
}

/* Code points of a text must be whole where it ends. */
static bool
frame_is_text(struct frame_reader *r, const unsigned char *p, size_t n)
{
	return r->binary ||
	    (utf8_read(&r->utf8, p, n) &&
		(r->used < r->length || !r->fin || utf8_is_whole(&r->utf8)));
}

static bool
close_code_is_valid(unsigned code)
{
	return (code >= 1000 && code <= 1003) ||
	    (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
}

static enum ws_close
frame_end_close(struct frame_reader *r, const char **why)
{
	const unsigned char *control = r->parser->control;
	size_t n = r->parser->n_control;
	unsigned code = WS_CLOSE_NO_STATUS;
	struct utf8_reader u = { 0 };
	struct str reason = { "", 0 };

	if (n == 1)
		return frame_violates(why, "the close code is not whole");
	if (n >= 2) {
		code = (unsigned)control[0] << 8 | control[1];
		reason = (struct str){ (const char *)control + 2, n - 2 };
		if (!close_code_is_valid(code))
			return frame_violates(why, "the close code is invalid");
		if (!utf8_read(&u, control + 2, reason.n) ||
		    !utf8_is_whole(&u)) {
			*why = "the reason is not UTF-8";
			return WS_CLOSE_INVALID_TEXT;
		}
	}
	r->ended = true;
	r->h.on_close(r->h.arg, code, reason);
	return WS_CLOSE_NONE;
}

/* The frame is whole. */
static enum ws_close
frame_end(struct frame_reader *r, struct str whole, const char **why)
{
	struct str control = { (const char *)r->parser->control,
		r->parser->n_control };
	bool more = true;

	r->in_frame = false;
	switch (r->opcode) {
	case WSLAY_PING:
		more = r->h.on_ping(r->h.arg, control);
		break;
	case WSLAY_PONG:
		more = r->h.on_pong(r->h.arg, control);
		break;
	case WSLAY_CONNECTION_CLOSE:
		return frame_end_close(r, why);
	default:
		if (!r->fin)
			break;
		r->in_message = false;
		more = r->h.on_message(r->h.arg,
		    whole.p != NULL ? whole : buf_str(&r->message), r->binary);
		buf_reset(&r->message);
		break;
	}
	r->ended = !more;
	return WS_CLOSE_NONE;
}

/* A part of the frame's payload, or all of it. */
static enum ws_close
frame_put(
    struct frame_reader *r, const unsigned char *p, size_t n, const char **why)
{
	struct frame_parser *parser = r->parser;
	struct str whole = { NULL, 0 };

	r->used += n;
	r->parsed += n;
	if (wslay_is_ctrl_frame(r->opcode)) {
		memcpy(parser->control + parser->n_control, p, n);
		parser->n_control = (uint8_t)(parser->n_control + n);
	} else {
		if (!frame_is_text(r, p, n)) {
			*why = "the text is not UTF-8";
			return WS_CLOSE_INVALID_TEXT;
		}
		/* One frame that has come at once needs no copy. */
		if (n == r->length && r->fin && r->message.n == 0)
			whole = (struct str){ n > 0 ? (const char *)p : "", n };
		else
			buf_put(&r->message, p, n);
	}
	return r->used == r->length ? frame_end(r, whole, why) : WS_CLOSE_NONE;
}

enum ws_close
frame_reader_feed(
    struct frame_reader *r, const void *data, size_t n, const char **why)
{
	struct wslay_frame_iocb f;
	enum ws_close code = WS_CLOSE_NONE;
	ssize_t got;

	if (r->ended || n == 0)
		return WS_CLOSE_NONE;
	if (r->parser == NULL)
		r->parser = parser_get(r->pool);
	r->parser->p = data;
	r->parser->n = n;
	r->fed += n;
	while (code == WS_CLOSE_NONE && !r->ended) {
		memset(&f, 0, sizeof(f));
		got = wslay_frame_recv(r->parser->ctx, &f);
		if (got == WSLAY_ERR_WANT_READ)
			break;
		if (got < 0) {
			code = frame_violates(why, "the frame is invalid");
			break;
		}
		if (!r->in_frame)
			code = frame_begin(r, &f, why);
		if (code == WS_CLOSE_NONE)
			code = frame_put(r, f.data, f.data_length, why);
	}
	if (code != WS_CLOSE_NONE)
		r->ended = true;
	if (r->fed == r->parsed && !r->in_frame) {
		parser_put(r->pool, r->parser);
		r->parser = NULL;
	}
	return code;
}
