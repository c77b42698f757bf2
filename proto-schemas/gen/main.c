/*
 * wiregen: JSON Schemas into C and into documents.
 *
 *	wiregen code SCHEMAS OUT	msgs.[ch], subjects.h, tables.c
 *	wiregen docs SCHEMAS OUT	INTERFACES.md, {open,async}api.yaml
 *	wiregen rights SCHEMAS OUT	nats-permissions.conf, redis-users.acl,
 *					mosquitto{,-services}.acl
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
docs(const struct gen *g, const char *out)
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

static void
rights(struct gen *g, const char *out)
{
	struct buf b = BUF_INIT(OUT_MAX);
	gen_nats_rights(g, &b);
	gen_write(out, "nats-permissions.conf", &b);
	gen_redis_rights(g, &b);
	gen_write(out, "redis-users.acl", &b);
	buf_free(&b);
	gen_acl(g, out);
}

int
main(int argc, char *argv[])
{
	struct gen g;
	if (argc == 4 && strcmp(argv[1], "code") != 0 &&
	    strcmp(argv[1], "docs") != 0 && strcmp(argv[1], "rights") != 0)
		argc = 0;
	if (argc != 4) {
		(void)fprintf(
		    stderr, "usage: wiregen code|docs|rights SCHEMAS OUT\n");
		return 64;
	}
	gen_load(&g, argv[2]);
	gen_iface_load(&g);
	if (argv[1][0] == 'c')
		code(&g, argv[3]);
	else if (argv[1][0] == 'd')
		docs(&g, argv[3]);
	else
		rights(&g, argv[3]);
	return 0;
}
