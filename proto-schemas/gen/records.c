/*
 * INTERFACES.md: streams, and what lies in Redis.
 */
#include <string.h>

#include "gen.h"

static void
put_streams(struct buf *b, const json_t *list)
{
	size_t i;
	json_t *e;
	buf_puts(b,
	    "\n## Streams\n\nWhat JetStream keeps. The keeper changes the "
	    "stream's settings, consumers are given its\nmessages one after "
	    "the other, readers look them up and delete them.\n\n"
	    "| stream | holds | keeper | consumers | readers | |\n"
	    "| --- | --- | --- | --- | --- | --- |\n");
	json_array_foreach ((json_t *)(uintptr_t)list, i, e) {
		buf_printf(b, "| `%s` | %s | %s |", gen_of(e, "name"),
		    gen_of(e, "holds"), gen_of(e, "keeper"));
		gen_markdown_names(b, e, "consumers");
		gen_markdown_names(b, e, "readers");
		buf_printf(b, " %s |\n", gen_of(e, "description"));
	}
}

/* "soul:session:{%:%}" with the names of its ids; the braces stay. */
static void
put_record_key(struct buf *b, const json_t *e)
{
	const char *key = gen_of(e, "key");
	size_t i = 0;
	buf_puts(b, "| `");
	for (; *key != '\0'; key++)
		if (*key == '%')
			buf_printf(b, "<%s>",
			    json_string_value(
				json_array_get(json_object_get(e, "of"), i++)));
		else
			buf_putc(b, *key);
	buf_puts(b, "` |");
}

static void
put_records(struct buf *b, const json_t *list)
{
	size_t i;
	json_t *e;
	buf_puts(b,
	    "\n## Redis\n\nThe records of libs/state, who uses them, and the "
	    "commands that do. An id stands in a\nkey as its token. Who writes "
	    "a record reads it as well.\n\n"
	    "| key | kind | read by | written by | reading | writing | |\n"
	    "| --- | --- | --- | --- | --- | --- | --- |\n");
	json_array_foreach ((json_t *)(uintptr_t)list, i, e) {
		put_record_key(b, e);
		buf_printf(b, " %s |", gen_of(e, "kind"));
		gen_markdown_names(b, e, "read");
		gen_markdown_names(b, e, "write");
		gen_markdown_names(b, e, "reads");
		gen_markdown_names(b, e, "writes");
		buf_printf(b, " %s |\n", gen_of(e, "description"));
	}
}

void
gen_markdown_records(const struct gen *g, struct buf *b)
{
	put_streams(b, json_object_get(g->iface, "streams"));
	put_records(b, json_object_get(g->iface, "redis"));
}
