/*
 * Lines, and what must not be in one.
 */
#include "passwd.h"

#include <stdlib.h>

#include "core/buf.h"
#include "core/id.h"
#include "core/map.h"
#include "core/mem.h"

struct passwd {
	struct buf text;
	struct map *names; /* those of services to p itself */
	size_t bodies;
};

struct passwd *
passwd_new(struct str base)
{
	struct passwd *p = mem_zalloc(sizeof(*p));
	struct str line, name;

	buf_init(&p->text, PASSWD_MAX);
	p->names = map_new();
	while (base.p != NULL) {
		line = str_trim(str_split(&base, '\n'));
		if (line.n == 0 || line.p[0] == '#')
			continue;
		buf_put_str(&p->text, line);
		buf_putc(&p->text, '\n');
		name = str_split(&line, ':');
		(void)map_put(p->names, name, p);
	}
	return p;
}

void
passwd_free(struct passwd *p)
{
	if (p == NULL)
		return;
	if (p->text.p != NULL)
		explicit_bzero(p->text.p, p->text.cap);
	buf_free(&p->text);
	map_free(p->names);
	free(p);
}

/* "$6$" or "$7$", and nothing that ends a line or a field. */
static bool
hash_ok(struct str s)
{
	size_t i;

	if (!str_starts(s, STR("$7$")) && !str_starts(s, STR("$6$")))
		return false;
	for (i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] > '~' || s.p[i] == ':')
			return false;
	return true;
}

bool
passwd_add(struct passwd *p, struct str id, struct str hash)
{
	/* Without blanks at its ends, and no comment: mosquitto trims. */
	if (!id_terminal_valid(id) || memchr(id.p, ':', id.n) != NULL ||
	    str_trim(id).n != id.n || map_get(p->names, id) == p ||
	    !hash_ok(hash))
		return false;
	buf_put_str(&p->text, id);
	buf_putc(&p->text, ':');
	buf_put_str(&p->text, hash);
	buf_putc(&p->text, '\n');
	(void)map_put(p->names, id, &p->bodies);
	p->bodies++;
	return true;
}

size_t
passwd_bodies(const struct passwd *p)
{
	return p->bodies;
}

bool
passwd_lacks(const struct passwd *p, struct str text)
{
	struct str line, name;

	while (text.p != NULL) {
		line = str_trim(str_split(&text, '\n'));
		name = str_split(&line, ':');
		if (line.p != NULL && map_get(p->names, name) == NULL)
			return true;
	}
	return false;
}

enum rc
passwd_text(const struct passwd *p, struct str *out)
{
	*out = buf_str(&p->text);
	return buf_rc(&p->text);
}
