#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/conf.h"
#include "core/mem.h"
#include "core/str.h"
#include "core/url.h"

#define FILE_MAX_BYTES (64 * (size_t)1024)
#define SHOWN_MAX      64 /* bytes of an invalid value in an error */

/* The member of *cfg for o. */
static void *
conf_member(const struct conf_opt *o, void *cfg)
{
	return (char *)cfg + o->off;
}

static const void *
conf_const_member(const struct conf_opt *o, const void *cfg)
{
	return (const char *)cfg + o->off;
}

static bool
conf_has_range(const struct conf_opt *o)
{
	return o->min != 0 || o->max != 0;
}

/* Replace control characters, which could forge lines or reach a terminal. */
static void
conf_put_printable(struct buf *out, struct str s)
{
	size_t pos = 0;

	while (pos < s.n) {
		size_t start = pos;
		int32_t cp = str_utf8_next(s, &pos);

		if (cp < 0)
			pos++;
		if (cp < 0x20 || (cp >= 0x7f && cp <= 0x9f))
			buf_putc(out, '?');
		else
			buf_put(out, s.p + start, pos - start);
	}
}

static void
conf_put_range(struct buf *out, const struct conf_opt *o)
{
	if (conf_has_range(o))
		buf_printf(out, "%" PRId64 " to %" PRId64, o->min, o->max);
}

/* What is valid. */
static void
conf_put_expected(struct buf *out, const struct conf_opt *o)
{
	switch (o->kind) {
	case CONF_INT:
		buf_puts(out, "a whole number");
		break;
	case CONF_F64:
		buf_puts(out, "a number");
		break;
	case CONF_BOOL:
		buf_puts(out, "on or off (true/false, yes/no, 1/0)");
		break;
	case CONF_STR:
	case CONF_SECRET:
	case CONF_URL:
		buf_puts(out, "a text");
		break;
	}
	if ((o->kind == CONF_INT || o->kind == CONF_F64) && conf_has_range(o)) {
		buf_puts(out, " from ");
		conf_put_range(out, o);
	}
}

static bool
conf_parse_bool(struct str s, bool *out)
{
	static const char *const words[][2] = { { "on", "off" },
		{ "true", "false" }, { "yes", "no" }, { "1", "0" } };

	for (size_t i = 0; i < NELEM(words); i++)
		for (size_t off = 0; off < 2; off++)
			if (str_eq_nocase(s, str_of(words[i][off]))) {
				*out = off == 0;
				return true;
			}
	return false;
}

/* Store value in *cfg; false if it is not valid. */
static bool
conf_store(const struct conf_opt *o, void *cfg, struct str value)
{
	int64_t min = conf_has_range(o) ? o->min : INT64_MIN;
	int64_t max = conf_has_range(o) ? o->max : INT64_MAX;
	char **text;

	switch (o->kind) {
	case CONF_STR:
	case CONF_SECRET:
	case CONF_URL:
		text = conf_member(o, cfg);
		free(*text);
		*text = str_dup(value);
		return true;
	case CONF_INT:
		return str_to_i64(str_trim(value), min, max,
			   conf_member(o, cfg)) == RC_OK;
	case CONF_F64:
		return str_to_f64(str_trim(value), (double)min, (double)max,
			   conf_member(o, cfg)) == RC_OK;
	case CONF_BOOL:
		return conf_parse_bool(str_trim(value), conf_member(o, cfg));
	}
	return false;
}

static void
conf_value_error(struct buf *errors, const struct conf_opt *o, const char *what,
    struct str value)
{
	char shown[SHOWN_MAX + 1];

	buf_printf(errors, "%s%s: ", o->env, what);
	if (value.n == 0)
		buf_puts(errors, "is not set");
	else if (o->kind == CONF_SECRET || o->kind == CONF_URL)
		buf_puts(errors, "the value is not right");
	else {
		str_copy(value, shown, sizeof(shown));
		buf_putc(errors, '"');
		conf_put_printable(errors, str_of(shown));
		buf_printf(errors, "%s\" is not right",
		    value.n > SHOWN_MAX ? "…" : "");
	}
	buf_puts(errors, "; it must be ");
	conf_put_expected(errors, o);
	buf_putc(errors, '\n');
}

/* Append the file's content to b; NULL, or the error. */
static const char *
conf_read_file(const char *path, struct buf *b)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *err = NULL;
	char part[4096];
	ssize_t n;

	if (fd < 0)
		return strerrordesc_np(errno);
	while ((n = read(fd, part, sizeof(part))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			err = strerrordesc_np(errno);
			break;
		}
		buf_put(b, part, (size_t)n);
		if (buf_rc(b) != RC_OK) {
			err = "longer than 65536 bytes";
			break;
		}
	}
	(void)close(fd);
	if (err == NULL && b->n != 0 && memchr(b->p, '\0', b->n) != NULL)
		err = "has a NUL byte";
	return err;
}

static struct str
conf_trim_newline(struct str s)
{
	if (s.n > 0 && s.p[s.n - 1] == '\n')
		s.n--;
	if (s.n > 0 && s.p[s.n - 1] == '\r')
		s.n--;
	return s;
}

/*
 * Load the value from the file named by <env>_FILE.  False if it is not set;
 * true also after an error.
 */
static bool
conf_load_file(const struct conf_opt *o, void *cfg, struct buf *errors)
{
	struct buf name = BUF_INIT(256), text = BUF_INIT(FILE_MAX_BYTES);
	const char *path, *err;

	buf_printf(&name, "%s_FILE", o->env);
	path = getenv(buf_str(&name).p);
	buf_free(&name);
	if (path == NULL || path[0] == '\0')
		return false;
	err = conf_read_file(path, &text);
	if (err != NULL) {
		buf_printf(errors, "%s_FILE: cannot use \"", o->env);
		conf_put_printable(errors, str_of(path));
		buf_printf(errors,
		    "\": %s; it must be a readable file with the value\n", err);
	} else if (!conf_store(o, cfg, conf_trim_newline(buf_str(&text))))
		conf_value_error(
		    errors, o, "_FILE", conf_trim_newline(buf_str(&text)));
	if (text.p != NULL)
		explicit_bzero(text.p, text.cap);
	buf_free(&text);
	return true;
}

static void
conf_load_one(const struct conf_opt *o, void *cfg, struct buf *errors)
{
	struct str dflt = str_of(o->dflt != NULL ? o->dflt : "");
	bool dflt_ok = conf_store(o, cfg, dflt);
	const char *value = getenv(o->env);

	if (value != NULL && value[0] != '\0') {
		if (!conf_store(o, cfg, str_of(value)))
			conf_value_error(errors, o, "", str_of(value));
	} else if (!conf_load_file(o, cfg, errors) && !dflt_ok)
		conf_value_error(
		    errors, o, dflt.n != 0 ? " (default)" : "", dflt);
}

enum rc
conf_load(const struct conf_opt *opts, size_t n, void *cfg, struct buf *errors)
{
	size_t before = errors->n;

	for (size_t i = 0; i < n; i++) {
		void *m = conf_member(&opts[i], cfg);

		/* *cfg may be uninitialised. */
		switch (opts[i].kind) {
		case CONF_STR:
		case CONF_SECRET:
		case CONF_URL:
			*(char **)m = NULL;
			break;
		case CONF_INT:
			*(int64_t *)m = 0;
			break;
		case CONF_F64:
			*(double *)m = 0;
			break;
		case CONF_BOOL:
			*(bool *)m = false;
			break;
		}
	}
	for (size_t i = 0; i < n; i++)
		conf_load_one(&opts[i], cfg, errors);
	return errors->n != before || errors->over ? RC_INVALID : RC_OK;
}

static bool
conf_is_text(enum conf_kind kind)
{
	return kind == CONF_STR || kind == CONF_SECRET || kind == CONF_URL;
}

void
conf_free(const struct conf_opt *opts, size_t n, void *cfg)
{
	for (size_t i = 0; i < n; i++)
		if (conf_is_text(opts[i].kind)) {
			char **text = conf_member(&opts[i], cfg);

			if (*text != NULL && opts[i].kind != CONF_STR)
				explicit_bzero(*text, strlen(*text));
			free(*text);
			*text = NULL;
		}
}

void
conf_print(
    const struct conf_opt *opts, size_t n, const void *cfg, struct buf *out)
{
	struct buf url = BUF_INIT(FILE_MAX_BYTES);

	for (size_t i = 0; i < n; i++) {
		const struct conf_opt *o = &opts[i];
		const void *m = conf_const_member(o, cfg);

		buf_printf(out, "%s=", o->env);
		switch (o->kind) {
		case CONF_STR:
			conf_put_printable(out, str_of(*(char *const *)m));
			break;
		case CONF_SECRET:
			if ((*(char *const *)m)[0] != '\0')
				buf_puts(out, "***");
			break;
		case CONF_URL:
			url_redact(str_of(*(char *const *)m), &url);
			conf_put_printable(out, buf_str(&url));
			buf_reset(&url);
			break;
		case CONF_INT:
			buf_printf(out, "%" PRId64, *(const int64_t *)m);
			break;
		case CONF_F64:
			buf_printf(out, "%.15g", *(const double *)m);
			break;
		case CONF_BOOL:
			buf_puts(out, *(const bool *)m ? "on" : "off");
			break;
		}
		buf_putc(out, '\n');
	}
	buf_free(&url);
}

static const char *
conf_default(const struct conf_opt *o)
{
	return o->dflt != NULL ? o->dflt : "";
}

void
conf_help(const struct conf_opt *opts, size_t n, struct buf *out)
{
	size_t width = 0;

	for (size_t i = 0; i < n; i++)
		if (strlen(opts[i].env) > width)
			width = strlen(opts[i].env);
	for (size_t i = 0; i < n; i++) {
		const struct conf_opt *o = &opts[i];
		const char *dflt = conf_default(o);
		bool range = conf_has_range(o);

		buf_printf(out, "  %-*s  %s", (int)width, o->env, o->help);
		if (range || dflt[0] != '\0') {
			buf_puts(out, " (");
			conf_put_range(out, o);
			if (dflt[0] != '\0')
				buf_printf(out, "%sdefault %s",
				    range ? "; " : "", dflt);
			buf_putc(out, ')');
		}
		buf_putc(out, '\n');
	}
}

/* Text of a table cell, without line ends and with | escaped. */
static void
conf_put_cell(struct buf *out, const char *text)
{
	for (; *text != '\0'; text++)
		if (*text == '|')
			buf_puts(out, "\\|");
		else
			buf_putc(out, *text == '\n' ? ' ' : *text);
}

void
conf_markdown(const struct conf_opt *opts, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++) {
		const struct conf_opt *o = &opts[i];
		const char *dflt = conf_default(o);

		buf_printf(out, "| `%s` | ", o->env);
		if (dflt[0] != '\0') {
			buf_putc(out, '`');
			conf_put_cell(out, dflt);
			buf_puts(out, "` ");
		}
		buf_puts(out, "| ");
		conf_put_cell(out, o->help);
		if (conf_has_range(o)) {
			buf_puts(out, " (");
			conf_put_range(out, o);
			buf_putc(out, ')');
		}
		buf_puts(out, " |\n");
	}
}

/* ---- unknown variables ---- */

#define NAME_BYTES_MAX 64 /* of a name that is compared */
#define NAME_SHORT     4  /* names up to this length are not compared */
#define NAME_LONG      8  /* names of this length may differ by two */

static size_t
conf_min(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Damerau-Levenshtein distance, of adjacent transpositions. */
static size_t
conf_edit_distance(struct str a, struct str b)
{
	size_t rows[3][NAME_BYTES_MAX + 1];
	size_t *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t k = 0; k <= b.n; k++)
		row[k] = k;
	for (size_t i = 1; i <= a.n; i++) {
		size_t *spare = before;
		before = above;
		above = row;
		row = spare;
		row[0] = i;
		for (size_t k = 1; k <= b.n; k++) {
			bool same = a.p[i - 1] == b.p[k - 1];
			row[k] = conf_min(conf_min(above[k], row[k - 1]) + 1,
			    above[k - 1] + (same ? 0 : 1));
			if (i > 1 && k > 1 && a.p[i - 1] == b.p[k - 2] &&
			    a.p[i - 2] == b.p[k - 1])
				row[k] = conf_min(row[k], before[k - 2] + 1);
		}
	}
	return row[b.n];
}

/* Whether more is less with one word added; less has at least two words. */
static bool
conf_has_one_word_more(struct str more, struct str less)
{
	bool skipped = false;
	size_t same = 0;

	while (more.p != NULL) {
		struct str word = str_split(&more, '_'), rest = less;
		if (less.p != NULL && str_eq(word, str_split(&rest, '_'))) {
			less = rest;
			same++;
		} else if (skipped) {
			return false;
		} else {
			skipped = true;
		}
	}
	return skipped && less.p == NULL && same >= 2;
}

/*
 * The known name that was probably meant by name, or NULL: some letters differ,
 * are missing, added or swapped, or one word between underscores is missing or
 * added.
 */
static const char *
conf_closest_name(struct str name, const char *const known[], size_t n)
{
	const char *best = NULL;
	size_t nearest = name.n < NAME_LONG ? 2 : 3;

	if (name.n <= NAME_SHORT || name.n > NAME_BYTES_MAX)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		struct str k = str_of(known[i]);
		size_t d = nearest;
		if (k.n > NAME_SHORT && k.n <= NAME_BYTES_MAX)
			d = conf_edit_distance(name, k);
		if (d >= nearest)
			continue;
		nearest = d;
		best = known[i];
	}
	for (size_t i = 0; i < n && best == NULL; i++)
		if (conf_has_one_word_more(name, str_of(known[i])) ||
		    conf_has_one_word_more(str_of(known[i]), name))
			best = known[i];
	return best;
}

static bool
conf_is_known(struct str name, const char *const known[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(name, str_of(known[i])))
			return true;
	return false;
}

static bool
conf_is_line_of(struct str name, struct str lines)
{
	while (lines.p != NULL)
		if (str_eq(name, str_split(&lines, '\n')))
			return true;
	return false;
}

static bool
conf_is_plain_name(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] != '_' && !isalnum((unsigned char)name.p[i]))
			return false;
	return true;
}

void
conf_unknown(
    const struct conf_opt *opts, size_t n, struct str more, struct buf *out)
{
	const char **known = mem_calloc(n + 1, sizeof(*known));
	size_t reported = 0;

	for (size_t i = 0; i < n; i++)
		known[i] = opts[i].env;
	for (char **e = environ; *e != NULL && reported < CONF_UNKNOWN_MAX;
	     e++) {
		struct str rest = str_of(*e), name = str_split(&rest, '=');
		struct str stem = name;
		const char *like;
		if (str_ends(name, STR("_FILE")))
			stem.n -= strlen("_FILE");
		if (conf_is_known(name, known, n) ||
		    conf_is_known(stem, known, n) ||
		    conf_is_line_of(name, more) || conf_is_line_of(stem, more))
			continue;
		like = conf_closest_name(name, known, n);
		if (like == NULL)
			continue;
		if (!conf_is_plain_name(name))
			continue;
		buf_printf(out, "%.*s is not known; did you mean %s?\n",
		    STR_ARG(name), like);
		reported++;
	}
	free(known);
}
