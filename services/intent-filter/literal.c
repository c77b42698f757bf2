/*
 * A reader of the plain part of the pattern language.  Of a sequence it takes
 * the part whose texts are longest; of alternatives it needs all.
 */
#include "literal.h"

#include <stdbool.h>

#define DEPTH_MAX 8

struct reader {
	struct str s;
	size_t at;
	bool failed; /* something it does not know */
	size_t depth;
};

static void read_alternatives(struct reader *r, struct literals *out);

static int
peek(const struct reader *r)
{
	return r->at < r->s.n ? (unsigned char)r->s.p[r->at] : -1;
}

static size_t
shortest(const struct literals *l)
{
	size_t i, least = 0;

	for (i = 0; i < l->n; i++) {
		if (i == 0 || l->len[i] < least)
			least = l->len[i];
	}
	return least;
}

/* The better of two sets that each must be there. */
static void
prefer(struct literals *best, const struct literals *other)
{
	if (other->n > 0 && (best->n == 0 || shortest(other) > shortest(best)))
		*best = *other;
}

/* A run of plain characters that a repetition or the end has closed. */
struct run {
	char text[LITERAL_BYTES];
	size_t n, last; /* last: where its last character begins */
};

static void
run_end(struct run *run, struct literals *best)
{
	struct literals one;

	if (run->n > 0) {
		one.n = 1;
		one.len[0] = run->n;
		memcpy(one.text[0], run->text, run->n);
		prefer(best, &one);
	}
	run->n = run->last = 0;
}

static void
run_put(struct run *run, const char *p, size_t n, struct literals *best)
{
	size_t i;

	if (run->n + n > sizeof(run->text))
		run_end(run, best);
	run->last = run->n;
	for (i = 0; i < n; i++)
		run->text[run->n++] =
		    p[i] >= 'A' && p[i] <= 'Z' ? (char)(p[i] + 32) : p[i];
}

/* A repetition at the reader; *optional if it allows none. */
static bool
read_repeat(struct reader *r, bool *optional)
{
	int c = peek(r);

	*optional = c == '?' || c == '*';
	if (c == '{') {
		*optional = r->at + 1 >= r->s.n || r->s.p[r->at + 1] == '0' ||
		    r->s.p[r->at + 1] == ',';
		while (peek(r) >= 0 && peek(r) != '}')
			r->at++;
	} else if (c != '?' && c != '*' && c != '+') {
		return false;
	}
	r->at++;
	/* Lazy or possessive. */
	if (peek(r) == '?' || peek(r) == '+')
		r->at++;
	return true;
}

static void
skip_class(struct reader *r)
{
	r->at++;
	if (peek(r) == '^')
		r->at++;
	if (peek(r) == ']')
		r->at++;
	while (peek(r) >= 0 && peek(r) != ']') {
		/* [[:alpha:]] and the like end at another place. */
		if (peek(r) == '[')
			r->failed = true;
		r->at += peek(r) == '\\' ? 2 : 1;
	}
	r->at++;
}

/* "(" has been seen; what is in the group, or nothing for a look-around. */
static void
read_group(struct reader *r, struct literals *out)
{
	bool plain = true;

	out->n = 0;
	r->at++;
	if (peek(r) == '?') {
		plain = str_starts(
		    (struct str){ r->s.p + r->at, r->s.n - r->at }, STR("?:"));
		if (!plain) {
			r->failed = true;
			return;
		}
		r->at += 2;
	} else if (peek(r) == '*') {
		r->failed = true;
		return;
	}
	if (++r->depth > DEPTH_MAX)
		r->failed = true;
	else
		read_alternatives(r, out);
	r->depth--;
	if (peek(r) != ')')
		r->failed = true;
	r->at++;
}

/* An escape: a plain character, a class, an assertion, or unknown. */
static void
read_escape(struct reader *r, struct run *run, struct literals *best)
{
	int c = r->at + 1 < r->s.n ? (unsigned char)r->s.p[r->at + 1] : -1;
	bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9');

	if (c < 0 || c >= 0x80 || (letter && strchr("dDwWsSbB", c) == NULL)) {
		r->failed = true;
		return;
	}
	if (letter)
		run_end(run, best);
	else
		run_put(run, r->s.p + r->at + 1, 1, best);
	r->at += 2;
}

static void
read_plain(struct reader *r, struct run *run, struct literals *best)
{
	size_t start = r->at;
	int32_t c = str_utf8_next(r->s, &r->at);

	/* Letters with a case beyond ASCII fold in ways not known here. */
	if (c < 0 || (c >= 0x80 && c < 0x2e80)) {
		r->failed = true;
		return;
	}
	run_put(run, r->s.p + start, r->at - start, best);
}

/* One step of a sequence; what a group must have goes to *group. */
static void
read_item(struct reader *r, struct run *run, struct literals *best,
    struct literals *group)
{
	int c = peek(r);

	group->n = 0;
	if (c == '(') {
		run_end(run, best);
		read_group(r, group);
	} else if (c == '[') {
		run_end(run, best);
		skip_class(r);
	} else if (c == '.' || c == '^' || c == '$') {
		run_end(run, best);
		r->at++;
	} else if (c == '\\') {
		read_escape(r, run, best);
	} else if (c == '*' || c == '+' || c == '?' || c == '#') {
		r->failed = true;
	} else {
		read_plain(r, run, best);
	}
}

static void
read_sequence(struct reader *r, struct literals *best)
{
	struct run run = { .n = 0 };
	struct literals group;
	bool optional;

	best->n = 0;
	while (!r->failed && peek(r) >= 0 && peek(r) != '|' && peek(r) != ')') {
		read_item(r, &run, best, &group);
		optional = false;
		if (read_repeat(r, &optional)) {
			if (optional)
				run.n = run.n > 0 ? run.last : 0;
			run_end(&run, best);
		}
		if (!optional)
			prefer(best, &group);
	}
	run_end(&run, best);
}

static void
read_alternatives(struct reader *r, struct literals *out)
{
	struct literals one;
	bool known = true;
	size_t i;

	out->n = 0;
	for (;;) {
		read_sequence(r, &one);
		known = known && !r->failed && one.n > 0 &&
		    out->n + one.n <= LITERAL_MAX;
		for (i = 0; known && i < one.n; i++, out->n++) {
			memcpy(out->text[out->n], one.text[i], one.len[i]);
			out->len[out->n] = one.len[i];
		}
		if (r->failed || peek(r) != '|')
			break;
		r->at++;
	}
	if (!known)
		out->n = 0;
}

void
literal_find(struct str pattern, struct literals *out)
{
	struct reader r = { .s = pattern };

	read_alternatives(&r, out);
	if (r.failed || r.at < pattern.n)
		out->n = 0;
}
