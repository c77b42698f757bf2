/*
 * JSON values as YAML in block style.
 */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "core/mem.h"
#include "gen.h"
#include "wire/out.h"

/* Where a folded line should end. */
#define COLUMNS 80

static void put_value(
    struct buf *b, const json_t *v, size_t indent, bool inside);

static void
put_indent(struct buf *b, size_t n)
{
	buf_printf(b, "%*s", (int)n, "");
}

/* Whether s stands for itself without quotes, by a cautious rule. */
static bool
is_plain(const char *s)
{
	static const char *const words[] = { "true", "false", "null", "yes",
		"no", "on", "off", "y", "n" };
	const char *ok = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			 "0123456789_/.-$ ,;()'";
	for (size_t i = 0; i < NELEM(words); i++)
		if (strcasecmp(s, words[i]) == 0)
			return false;
	return s[0] != '\0' && strchr("0123456789.- ,;()'", s[0]) == NULL &&
	    s[strspn(s, ok)] == '\0' && s[strlen(s) - 1] != ' ';
}

static void
put_quoted(struct buf *b, const char *s)
{
	struct wire_out o = { b, false };
	if (is_plain(s))
		buf_puts(b, s);
	else
		wire_out_str(&o, str_of(s));
}

/* Prose: lines of words, which YAML joins with one space again. */
static void
put_folded(struct buf *b, const char *s, size_t indent)
{
	size_t col = COLUMNS;
	buf_puts(b, ">-");
	while (*s != '\0') {
		size_t n = strcspn(s, " ");
		if (col + 1 + n > COLUMNS) {
			buf_putc(b, '\n');
			put_indent(b, indent);
			col = indent;
		} else {
			buf_putc(b, ' ');
			col++;
		}
		buf_put(b, s, n);
		col += n;
		s += n + (s[n] == ' ');
	}
}

static void
put_string(struct buf *b, const char *s, size_t indent)
{
	bool prose = strlen(s) > 50 && strchr(s, ' ') != NULL &&
	    strstr(s, "  ") == NULL && s[0] != ' ' && s[strlen(s) - 1] != ' ';
	for (const char *p = s; *p != '\0'; p++)
		if ((unsigned char)*p < 0x20)
			prose = false;
	if (prose)
		put_folded(b, s, indent);
	else
		put_quoted(b, s);
}

static void
put_scalar(struct buf *b, const json_t *v, size_t indent)
{
	struct wire_out o = { b, false };
	if (json_is_string(v))
		put_string(b, json_string_value(v), indent);
	else if (json_is_integer(v))
		wire_out_i64(&o, json_integer_value(v));
	else if (json_is_real(v))
		wire_out_f64(&o, json_real_value(v));
	else if (json_is_boolean(v))
		wire_out_bool(&o, json_is_true(v));
	else
		wire_out_null(&o);
}

static bool
is_block(const json_t *v)
{
	return json_object_size(v) > 0 || json_array_size(v) > 0;
}

/* What follows "key:" or "-"; a mapping in a list begins on its line. */
static void
put_after(struct buf *b, const json_t *v, size_t indent, bool item)
{
	if (is_block(v)) {
		bool inside = item && json_is_object(v);
		buf_putc(b, inside ? ' ' : '\n');
		put_value(b, v, indent, inside);
		return;
	}
	buf_putc(b, ' ');
	if (json_is_object(v))
		buf_puts(b, "{}");
	else if (json_is_array(v))
		buf_puts(b, "[]");
	else
		put_scalar(b, v, indent);
	buf_putc(b, '\n');
}

static void
put_value(struct buf *b, const json_t *v, size_t indent, bool inside)
{
	const char *key;
	json_t *item;
	size_t i;
	json_object_foreach ((json_t *)(uintptr_t)v, key, item) {
		if (!inside)
			put_indent(b, indent);
		inside = false;
		put_quoted(b, key);
		buf_putc(b, ':');
		put_after(b, item, indent + 2, false);
	}
	json_array_foreach ((json_t *)(uintptr_t)v, i, item) {
		put_indent(b, indent);
		buf_putc(b, '-');
		put_after(b, item, indent + 2, true);
	}
}

void
gen_yaml(struct buf *b, const json_t *v)
{
	put_value(b, v, 0, false);
}
