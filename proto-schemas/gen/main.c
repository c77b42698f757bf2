/*
 * wiregen: JSON Schemas into C and into documents.
 *
 *	wiregen code SCHEMAS OUT	msgs.[ch], subjects.h, tables.c
 *	wiregen docs SCHEMAS OUT	INTERFACES.md, {open,async}api.yaml
 *	wiregen acl SCHEMAS OUT		mosquitto.acl, mosquitto-services.acl
 */
#include <stdio.h>
#include <string.h>

#include "gen.h"

/* Far above what any set of schemas makes. */
#define OUT_MAX (64 * 1024 * 1024)

static void
code(struct gen *g, const char *out)
{
	struct buf b = BUF_INIT(OUT_MAX);
	gen_tables(g, &b);
	gen_write(out, "tables.c", &b);
	gen_subjects(g, &b);
	gen_write(out, "subjects.h", &b);
	gen_table(g, &b);
	gen_write(out, "msgs.c", &b);
	gen_head(g, &b);
	gen_write(out, "msgs.h", &b);
	buf_free(&b);
}

static void
docs(struct gen *g, const char *out)
{
	struct buf b = BUF_INIT(OUT_MAX);
	gen_markdown(g, &b);
	gen_write(out, "INTERFACES.md", &b);
	gen_yaml(&b, gen_openapi(g));
	gen_write(out, "openapi.yaml", &b);
	gen_yaml(&b, gen_asyncapi(g));
	gen_write(out, "asyncapi.yaml", &b);
	buf_free(&b);
}

int
main(int argc, char *argv[])
{
	const char *what = argc == 4 ? argv[1] : "";
	struct gen g;
	if (strcmp(what, "code") != 0 && strcmp(what, "docs") != 0 &&
	    strcmp(what, "acl") != 0) {
		(void)fputs(
		    "usage: wiregen code|docs|acl SCHEMAS OUT\n", stderr);
		return 64;
	}
	gen_load(&g, argv[2]);
	gen_iface_load(&g);
	(*what == 'c' ? code : *what == 'd' ? docs : gen_acl)(&g, argv[3]);
	return 0;
}
