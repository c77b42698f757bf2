/*
 * Pieces of C text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen.h"

/* Where a line of generated comment must end. */
#define COLUMNS 80

/* Columns of s; a tab counts eight, a code point one. */
static size_t
columns(const char *s)
{
	size_t n = 0;
	for (; *s != '\0'; s++) {
		if (*s == '\t')
			n += 8 - n % 8;
		else if (((unsigned char)*s & 0xc0) != 0x80)
			n++;
	}
	return n;
}

/* Words of text into lines that begin with lead. */
static void
put_words(struct buf *b, const char *lead, const char *text)
{
	size_t col = COLUMNS;
	bool first = true;
	const char *p = text + strspn(text, " \n");
	while (*p != '\0') {
		size_t len = strcspn(p, " \n");
		char *word = gen_printf("%.*s", (int)len, p);
		if (col + 1 + columns(word) > COLUMNS) {
			if (!first)
				buf_putc(b, '\n');
			buf_puts(b, lead);
			col = columns(lead);
			first = false;
		} else {
			buf_putc(b, ' ');
			col++;
		}
		buf_puts(b, word);
		col += columns(word);
		free(word);
		p += len + strspn(p + len, " \n");
	}
}

/* On one line where it fits. */
void
gen_comment(struct buf *b, const char *indent, const char *text)
{
	if (columns(indent) + columns(text) + 6 <= COLUMNS &&
	    strchr(text, '\n') == NULL) {
		buf_printf(b, "%s/* %s */\n", indent, text);
		return;
	}
	char *lead = gen_printf("%s * ", indent);
	buf_printf(b, "%s/*\n", indent);
	for (const char *p = text; *p != '\0';) {
		size_t len = strcspn(p, "\n");
		char *line = gen_printf("%.*s", (int)len, p);
		put_words(b, lead, line);
		buf_putc(b, '\n');
		free(line);
		p += len + (p[len] == '\n');
	}
	buf_printf(b, "%s */\n", indent);
	free(lead);
}

/* A string literal; octal, because it ends after three digits. */
void
gen_literal(struct buf *b, struct str s)
{
	buf_putc(b, '"');
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		if (c == '"' || c == '\\')
			buf_printf(b, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f || c == '?')
			buf_printf(b, "\\%03o", c);
		else
			buf_putc(b, (char)c);
	}
	buf_putc(b, '"');
}

/* Replace a file, whole or not at all. */
void
gen_write(const char *dir, const char *name, struct buf *b)
{
	struct where w = { gen_printf("%s/%s", dir, name), "" };
	if (buf_rc(b) != RC_OK)
		gen_fail(w, "would be too long");
	char *tmp = gen_printf("%s.new", w.file);
	FILE *f = fopen(tmp, "w");
	if (f == NULL)
		gen_fail(w, "cannot be written");
	bool ok = fwrite(b->p, 1, b->n, f) == b->n;
	if (fclose(f) != 0 || !ok || rename(tmp, w.file) != 0) {
		(void)remove(tmp);
		gen_fail(w, "cannot be written");
	}
	free(tmp);
	buf_reset(b);
}
