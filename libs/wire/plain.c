/*
 * A look at JSON text that spares parsing it.
 *
 * Most values without a schema were written by this library, so they are
 * compact and harmless.  What this does not see as such is left to jansson:
 * white space, \u escapes, keys with escapes, many keys, long numbers.
 */
#include <string.h>

#include "wire/raw.h"

/* Keys of all open objects together. */
#define KEYS_MAX 64

struct scan {
	const char *p;
	const char *end;
	size_t depth;
	struct {
		bool object;
		size_t keys; /* where its keys begin */
	} open[WIRE_DEPTH_MAX];
	struct str keys[KEYS_MAX];
	size_t n_keys;
};

/* Past the string that begins at s->p, quotes included. */
static bool
scan_string(struct scan *s, bool key)
{
	for (s->p++; s->p < s->end; s->p++) {
		unsigned char c = (unsigned char)*s->p;
		if (c == '"') {
			s->p++;
			return true;
		}
		if (c < 0x20)
			return false;
		if (c != '\\')
			continue;
		s->p++;
		if (key || s->p == s->end ||
		    strchr("\"\\/bfnrt", *s->p) == NULL || *s->p == '\0')
			return false;
	}
	return false;
}

static size_t
scan_digits(struct scan *s)
{
	const char *from = s->p;
	while (s->p < s->end && *s->p >= '0' && *s->p <= '9')
		s->p++;
	return (size_t)(s->p - from);
}

/* Exponents are rare, and can be too large. */
static bool
scan_number(struct scan *s)
{
	if (*s->p == '-')
		s->p++;
	const char *first = s->p;
	size_t n = scan_digits(s);
	if (n == 0 || n > 18 || (n > 1 && *first == '0'))
		return false;
	if (s->p < s->end && *s->p == '.') {
		s->p++;
		if (scan_digits(s) == 0)
			return false;
	}
	return s->p == s->end || (*s->p != 'e' && *s->p != 'E');
}

static bool
scan_word(struct scan *s, const char *word)
{
	size_t n = strlen(word);
	if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0)
		return false;
	s->p += n;
	return true;
}

/* Past a key and its colon, if no other key of this object is the same. */
static bool
scan_key(struct scan *s)
{
	const char *from = s->p;
	if (s->p == s->end || *s->p != '"' || !scan_string(s, true))
		return false;
	struct str key = { from, (size_t)(s->p - from) };
	for (size_t i = s->open[s->depth - 1].keys; i < s->n_keys; i++)
		if (str_eq(s->keys[i], key))
			return false;
	if (s->n_keys == KEYS_MAX || s->p == s->end || *s->p != ':')
		return false;
	s->keys[s->n_keys++] = key;
	s->p++;
	return true;
}

/*
 * Past a value; of an object or array only what opens it, up to its first
 * value.  *whole: the value is complete.
 */
static bool
scan_value(struct scan *s, size_t depth, bool *whole)
{
	*whole = true;
	if (s->p == s->end)
		return false;
	char c = *s->p;
	if (c == '"')
		return scan_string(s, false);
	if (c == 't' || c == 'f' || c == 'n')
		return scan_word(s,
		    c == 't'       ? "true"
			: c == 'f' ? "false"
				   : "null");
	if (c != '{' && c != '[')
		return scan_number(s);
	s->p++;
	if (s->depth == depth)
		return false;
	if (s->p < s->end && *s->p == (c == '{' ? '}' : ']')) {
		s->p++;
		return true;
	}
	s->open[s->depth].object = c == '{';
	s->open[s->depth++].keys = s->n_keys;
	*whole = false;
	return c == '[' || scan_key(s);
}

bool
wire_raw_plain(struct str in, size_t depth)
{
	struct scan s = { .p = in.p, .end = in.p + in.n };
	if (depth > WIRE_DEPTH_MAX || str_utf8_count(in) < 0)
		return false;
	for (;;) {
		bool whole;
		if (!scan_value(&s, depth, &whole))
			return false;
		while (whole) {
			if (s.depth == 0)
				return s.p == s.end;
			if (s.p == s.end)
				return false;
			bool object = s.open[s.depth - 1].object;
			char c = *s.p++;
			if (c == ',') {
				whole = false;
				if (object && !scan_key(&s))
					return false;
			} else if (c == (object ? '}' : ']')) {
				s.n_keys = s.open[--s.depth].keys;
			} else {
				return false;
			}
		}
	}
}
