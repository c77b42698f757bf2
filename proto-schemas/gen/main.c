/*
 * wiregen: JSON Schemas into C and into documents.
 *
 * usage: wiregen <code|docs|rights> SCHEMAS OUT
 */
#include <stdio.h>
#include <string.h>

#include "gen.h"

/* Far above what any set of schemas makes. */
#define OUT_MAX (64 * 1024 * 1024)

static const struct {
	const char *verb, *file;
	void (*put)(struct gen *g, struct buf *b);
} files[] = {
	{ "code", "tables.c", gen_tables },
	{ "code", "subjects.h", gen_subjects },
	{ "code", "msgs.c", gen_table },
	{ "code", "msgs.h", gen_head },
	{ "docs", "INTERFACES.md", gen_markdown },
	{ "docs", "openapi.yaml", gen_openapi },
	{ "docs", "asyncapi.yaml", gen_asyncapi },
	{ "rights", "nats-permissions.conf", gen_nats_rights },
	{ "rights", "redis-users.acl", gen_redis_rights },
	{ "rights", "mosquitto.acl", gen_acl_bodies },
	{ "rights", "mosquitto-services.acl", gen_acl_services },
};
#define FILES_N (sizeof(files) / sizeof(*files))

int
main(int argc, char *argv[])
{
	struct buf b = BUF_INIT(OUT_MAX);
	struct gen g;
	size_t i, n = 0;
	for (i = 0; argc == 4 && i < FILES_N; i++)
		n += strcmp(files[i].verb, argv[1]) == 0;
	if (n == 0) {
		(void)fputs(
		    "usage: wiregen <code|docs|rights> SCHEMAS OUT\n", stderr);
		return 64;
	}
	gen_load(&g, argv[2]);
	gen_iface_load(&g);
	for (i = 0; i < FILES_N; i++) {
		if (strcmp(files[i].verb, argv[1]) != 0)
			continue;
		files[i].put(&g, &b);
		gen_write(argv[3], files[i].file, &b);
	}
	buf_free(&b);
	return 0;
}
