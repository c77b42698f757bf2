/*
 * Objects are scanned as models write them: keys and texts also in single
 * quotes, keys without quotes, line ends in texts.  A text that ends too early,
 * at a quote in it, is an error: what follows may be the inner voice.
 */
#include "reply/inner_voice.h"

#include <string.h>

#define TAG_OPEN  STR("<inner>")
#define TAG_CLOSE STR("</inner>")
/* Bytes from the beginning of a fence to the brace in it. */
#define FENCE_MAX 32
/* Nested objects and arrays; what is deeper is text. */
#define DEPTH_MAX 8

enum object_part {
	PART_KEY, /* a key or the end of the object */
	PART_BARE_KEY,
	PART_COLON,
	PART_VALUE,
	PART_SCALAR,
	PART_COMMA
};

enum object_target { TARGET_NONE, TARGET_REPLY, TARGET_VOICE, TARGET_EMOTION };

enum object_step {
	STEP_MORE,
	STEP_ENVELOPE, /* it is one */
	STEP_END,
	STEP_ERROR
};

void
inner_voice_init(struct inner_voice *v)
{
	*v = (struct inner_voice){ .mode = INNER_TEXT };
	buf_init(&v->voice, INNER_VOICE_MAX);
	buf_init(&v->raw, 16 * INNER_HELD_MAX);
}

void
inner_voice_free(struct inner_voice *v)
{
	buf_free(&v->voice);
	buf_free(&v->raw);
}

static bool
inner_is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool
inner_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* ---- texts in an object ---- */

static void
object_put(struct inner_voice *v, const char *p, size_t n, struct buf *reply)
{
	struct inner_object *o = &v->o;

	if (o->part == PART_KEY) {
		/* One that is longer is none of the three. */
		for (size_t i = 0; i < n; i++, o->key_n++)
			if (o->key_n < sizeof(o->key))
				o->key[o->key_n] = p[i];
	} else if (o->target == TARGET_REPLY) {
		buf_put(reply, p, n);
	} else if (o->target == TARGET_VOICE) {
		if (v->voice.n + n <= INNER_VOICE_MAX)
			buf_put(&v->voice, p, n);
	} else if (o->target == TARGET_EMOTION &&
	    v->emotion_n + n <= sizeof(v->emotion)) {
		memcpy(v->emotion + v->emotion_n, p, n);
		v->emotion_n += n;
	}
}

static void
object_put_code(struct inner_voice *v, uint32_t c, struct buf *reply)
{
	char bytes[STR_UTF8_MAX];

	object_put(v, bytes, str_utf8_put(c, bytes), reply);
}

/* A high surrogate that no low one follows. */
static void
object_end_high(struct inner_voice *v, struct buf *reply)
{
	if (v->o.high != 0)
		object_put_code(v, 0xFFFD, reply);
	v->o.high = 0;
}

static void
object_put_unit(struct inner_voice *v, uint32_t unit, struct buf *reply)
{
	struct inner_object *o = &v->o;

	if (unit >= 0xDC00 && unit <= 0xDFFF && o->high != 0) {
		unit = 0x10000 + ((o->high - 0xD800) << 10) + (unit - 0xDC00);
		o->high = 0;
		object_put_code(v, unit, reply);
		return;
	}
	object_end_high(v, reply);
	if (unit >= 0xD800 && unit <= 0xDBFF)
		o->high = unit;
	else
		object_put_code(
		    v, unit >= 0xDC00 && unit <= 0xDFFF ? 0xFFFD : unit, reply);
}

static void
object_escaped(struct inner_voice *v, char c, struct buf *reply)
{
	static const char from[] = "ntrbf", to[] = "\n\t  \n";
	const char *found = c != '\0' ? strchr(from, c) : NULL;

	v->o.escape = false;
	if (c == 'u') {
		v->o.digits = 4;
		v->o.code = 0;
		return;
	}
	object_end_high(v, reply);
	object_put(v, found != NULL ? &to[found - from] : &c, 1, reply);
}

/* One byte of a text.  True: it has ended. */
static bool
object_text(struct inner_voice *v, char c, struct buf *reply)
{
	struct inner_object *o = &v->o;

	if (o->digits > 0 && str_hex_value(c) >= 0) {
		o->code = o->code << 4 | (uint32_t)str_hex_value(c);
		if (--o->digits == 0)
			object_put_unit(v, o->code, reply);
		return false;
	}
	if (o->digits > 0) {
		o->digits = 0;
		object_put_unit(v, 0xFFFD, reply);
	}
	if (o->escape) {
		object_escaped(v, c, reply);
	} else if (c == '\\') {
		o->escape = true;
	} else {
		object_end_high(v, reply);
		if (c == o->quote)
			return true;
		object_put(v, &c, 1, reply);
	}
	return false;
}

/* ---- objects ---- */

static void
object_begin(struct inner_voice *v)
{
	v->o = (struct inner_object){ .part = PART_KEY, .depth = 1 };
	v->emotion_n = 0;
}

static bool
object_has_key(const struct inner_object *o, struct str key)
{
	return o->key_n <= sizeof(o->key) &&
	    str_eq((struct str){ o->key, o->key_n }, key);
}

/* The value of a key begins.  It is an envelope's if so. */
static enum object_step
object_value(struct inner_voice *v, bool text)
{
	struct inner_object *o = &v->o;

	o->target = TARGET_NONE;
	if (object_has_key(o, STR("reply"))) {
		/* A second one is none. */
		if (!text || o->replied)
			return STEP_MORE;
		o->replied = true;
		o->target = TARGET_REPLY;
		return STEP_ENVELOPE;
	}
	if (object_has_key(o, STR("inner_voice"))) {
		o->target = text ? TARGET_VOICE : TARGET_NONE;
		return STEP_ENVELOPE;
	}
	if (object_has_key(o, STR("emotion")) && text) {
		o->target = TARGET_EMOTION;
		v->emotion_n = 0;
	}
	return STEP_MORE;
}

static enum object_step
object_open(struct inner_voice *v)
{
	struct inner_object *o = &v->o;

	return ++o->depth > DEPTH_MAX ? STEP_ERROR : STEP_MORE;
}

static enum object_step
object_step_value(struct inner_voice *v, char c)
{
	struct inner_object *o = &v->o;
	enum object_step step = object_value(v, c == '"' || c == '\'');

	if (c == '"' || c == '\'') {
		o->quote = c;
		return step;
	}
	if (c == '{' || c == '[')
		return object_open(v) == STEP_ERROR ? STEP_ERROR : step;
	if (c == ',' || c == '}' || c == ':' || c == ']')
		return STEP_ERROR;
	o->part = PART_SCALAR;
	return step;
}

static enum object_step
object_step_key(struct inner_voice *v, char c)
{
	struct inner_object *o = &v->o;

	o->key_n = 0;
	o->target = TARGET_NONE;
	if (c == '}')
		return STEP_END;
	if (c == '"' || c == '\'') {
		o->quote = c;
		return STEP_MORE;
	}
	if (!inner_is_word(c))
		return STEP_ERROR;
	o->key[o->key_n++] = c;
	o->part = PART_BARE_KEY;
	return STEP_MORE;
}

static enum object_step
object_step_bare_key(struct inner_voice *v, char c)
{
	struct inner_object *o = &v->o;

	if (inner_is_blank(c)) {
		o->part = PART_COLON;
	} else if (c == ':') {
		o->part = PART_VALUE;
	} else if (inner_is_word(c)) {
		if (o->key_n < sizeof(o->key))
			o->key[o->key_n] = c;
		o->key_n++;
	} else {
		return STEP_ERROR;
	}
	return STEP_MORE;
}

/* A byte in an inner object or array, outside of texts. */
static enum object_step
object_step_nested(struct inner_voice *v, char c)
{
	struct inner_object *o = &v->o;

	o->target = TARGET_NONE;
	if (c == '"' || c == '\'')
		o->quote = c;
	else if (c == '{' || c == '[')
		return object_open(v);
	else if ((c == '}' || c == ']') && --o->depth == 1)
		o->part = PART_COMMA;
	return STEP_MORE;
}

static enum object_step
object_step_end(struct inner_voice *v, char c)
{
	if (c == '}')
		return STEP_END;
	if (c != ',')
		return STEP_ERROR;
	v->o.part = PART_KEY;
	return STEP_MORE;
}

static enum object_step
object_step(struct inner_voice *v, char c, struct buf *reply)
{
	struct inner_object *o = &v->o;

	if (o->quote != '\0') {
		if (!object_text(v, c, reply))
			return STEP_MORE;
		o->quote = '\0';
		if (o->depth == 1)
			o->part = o->part == PART_KEY ? PART_COLON : PART_COMMA;
		return STEP_MORE;
	}
	if (o->depth > 1)
		return object_step_nested(v, c);
	if (o->part == PART_BARE_KEY)
		return object_step_bare_key(v, c);
	if (o->part == PART_SCALAR && c != ',' && c != '}')
		return c == ':' || c == '"' ? STEP_ERROR : STEP_MORE;
	if (inner_is_blank(c))
		return STEP_MORE;
	switch ((enum object_part)o->part) {
	case PART_KEY:
		return object_step_key(v, c);
	case PART_COLON:
		o->part = PART_VALUE;
		return c == ':' ? STEP_MORE : STEP_ERROR;
	case PART_VALUE:
		return object_step_value(v, c);
	default:
		return object_step_end(v, c);
	}
}

/* ---- the completion ---- */

static char
inner_byte(const struct inner_voice *v, size_t i)
{
	return v->raw.p[i];
}

/* So many bytes at v->at are the beginning of s; v->raw may end before it. */
static size_t
inner_common(const struct inner_voice *v, struct str s)
{
	size_t n = 0;

	while (n < s.n && v->at + n < v->raw.n &&
	    str_eq_nocase((struct str){ v->raw.p + v->at + n, 1 },
		(struct str){ s.p + n, 1 }))
		n++;
	return n;
}

/* Whether s begins at v->at, or may. */
static bool
inner_may_begin(const struct inner_voice *v, struct str s)
{
	size_t n = inner_common(v, s);

	return n == s.n || v->at + n == v->raw.n;
}

static void
inner_put(struct inner_voice *v, struct buf *reply)
{
	buf_putc(reply, inner_byte(v, v->at++));
}

/* The brace in a fence that begins at v->at; 0: none.  *more: not yet. */
static size_t
inner_fence(const struct inner_voice *v, bool *more)
{
	size_t i = v->at, end = v->at + FENCE_MAX;

	*more = inner_may_begin(v, STR("```"));
	if (!*more || inner_common(v, STR("```")) < 3)
		return 0;
	i += 3;
	while (i < v->raw.n && i < end && inner_is_word(inner_byte(v, i)))
		i++;
	while (i < v->raw.n && i < end && inner_is_blank(inner_byte(v, i)))
		i++;
	*more = i == v->raw.n && i < end;
	return i < v->raw.n && inner_byte(v, i) == '{' ? i : 0;
}

static void
inner_begin_object(struct inner_voice *v, size_t brace, bool fence)
{
	v->mode = INNER_OBJECT;
	v->scan = brace + 1;
	v->fence = fence;
	object_begin(v);
}

/* One byte of text, or what begins with it.  False: more is needed. */
static bool
inner_step_text(struct inner_voice *v, bool end, struct buf *reply)
{
	char c = inner_byte(v, v->at);
	bool more = false;
	size_t brace;

	if (c == '<' && inner_common(v, TAG_OPEN) == TAG_OPEN.n) {
		v->mode = INNER_TAG;
		v->at += TAG_OPEN.n;
		return true;
	}
	if (c == '{') {
		inner_begin_object(v, v->at, false);
		return true;
	}
	if (c == '<') {
		more = inner_may_begin(v, TAG_OPEN);
	} else if (c == '`') {
		brace = inner_fence(v, &more);
		if (brace > 0) {
			inner_begin_object(v, brace, true);
			return true;
		}
	}
	if (more && !end)
		return false;
	inner_put(v, reply);
	return true;
}

static bool
inner_step_tag(struct inner_voice *v, bool end)
{
	size_t n = inner_common(v, TAG_CLOSE);

	if (n == TAG_CLOSE.n) {
		v->at += n;
		v->mode = INNER_TEXT;
		return true;
	}
	if (inner_may_begin(v, TAG_CLOSE) && !end)
		return false;
	if (v->voice.n < INNER_VOICE_MAX)
		buf_putc(&v->voice, inner_byte(v, v->at));
	v->at++;
	return true;
}

/* It is no envelope: its first byte is text, what follows may have one. */
static bool
inner_release(struct inner_voice *v, struct buf *reply)
{
	v->mode = INNER_TEXT;
	v->emotion_n = 0;
	inner_put(v, reply);
	return true;
}

static bool
inner_step_object(struct inner_voice *v, bool end, struct buf *reply)
{
	enum object_step step = STEP_MORE;

	while (step == STEP_MORE && v->scan < v->raw.n &&
	    v->scan - v->at < INNER_HELD_MAX)
		step = object_step(v, inner_byte(v, v->scan++), reply);
	if (step == STEP_ENVELOPE) {
		v->mode = INNER_ENVELOPE;
		v->at = v->scan;
		return true;
	}
	if (step == STEP_MORE && v->scan == v->raw.n && !end)
		return false;
	return inner_release(v, reply);
}

static bool
inner_step_envelope(struct inner_voice *v, struct buf *reply)
{
	switch (object_step(v, inner_byte(v, v->at++), reply)) {
	case STEP_END:
		v->mode = v->fence ? INNER_FENCE : INNER_TEXT;
		v->ticks = 0;
		break;
	case STEP_ERROR:
		v->mode = INNER_BROKEN;
		break;
	default:
		break;
	}
	return true;
}

static bool
inner_step_fence(struct inner_voice *v)
{
	char c = inner_byte(v, v->at);

	if (c == '`' && v->ticks < 3)
		v->ticks++;
	else if (!inner_is_blank(c) || v->ticks == 3)
		v->mode = INNER_TEXT;
	if (v->mode == INNER_FENCE)
		v->at++;
	return true;
}

static bool
inner_step(struct inner_voice *v, bool end, struct buf *reply)
{
	switch (v->mode) {
	case INNER_TEXT:
		return inner_step_text(v, end, reply);
	case INNER_TAG:
		return inner_step_tag(v, end);
	case INNER_OBJECT:
		return inner_step_object(v, end, reply);
	case INNER_ENVELOPE:
		return inner_step_envelope(v, reply);
	case INNER_FENCE:
		return inner_step_fence(v);
	case INNER_BROKEN:
		break;
	}
	v->at = v->raw.n;
	return true;
}

static void
inner_run(struct inner_voice *v, bool end, struct buf *reply)
{
	bool more = true;

	while (more && v->at < v->raw.n)
		more = inner_step(v, end, reply);
	buf_drop(&v->raw, v->at);
	v->scan -= v->scan < v->at ? v->scan : v->at;
	v->at = 0;
}

void
inner_voice_feed(struct inner_voice *v, struct str chunk, struct buf *reply)
{
	/* So that what is not decided never overflows. */
	while (chunk.n > 0) {
		size_t n = chunk.n < INNER_HELD_MAX ? chunk.n : INNER_HELD_MAX;
		buf_put(&v->raw, chunk.p, n);
		inner_run(v, false, reply);
		chunk.p += n;
		chunk.n -= n;
	}
}

void
inner_voice_end(struct inner_voice *v, struct buf *reply)
{
	inner_run(v, true, reply);
	if (v->o.high != 0 && v->mode == INNER_ENVELOPE)
		object_end_high(v, reply);
}
