/*
 * mosquitto.acl, mosquitto-services.acl: who may read and write which topic at
 * the broker, from the same table as everything else.
 */
#include <string.h>

#include "gen.h"

/* As shipped; see the head of the files. */
#define PREFIX "soul"

static const char head[] =
    "# Generated from proto-schemas/interfaces.json by make docs; do not "
    "edit.\n"
    "# With another MQTT_TOPIC_PREFIX than soul, a/b for one:\n"
    "#\n"
    "#\tsed 's,soul/terminal/,a/b/terminal/,' %s\n"
    "#\n";

/* The topic of an entry, with whose in the place of the terminal. */
static void
put_topic(struct buf *b, const json_t *e, const char *whose)
{
	const char *s = gen_of(e, "topic");
	while (*s != '\0') {
		size_t n = strcspn(s, "{");
		buf_put(b, s, n);
		s += n;
		if (*s != '{')
			break;
		if (strncmp(s, "{prefix}", 8) == 0)
			buf_puts(b, PREFIX);
		else if (strncmp(s, "{terminal}", 10) == 0)
			buf_puts(b, whose);
		else
			buf_putc(b, '+');
		s = strchr(s, '}') + 1;
	}
	buf_putc(b, '\n');
}

static void
put_rights(const struct gen *g, struct buf *b, const char *from,
    const char *right, const char *whose)
{
	size_t i;
	json_t *e;
	json_array_foreach (json_object_get(g->iface, "mqtt"), i, e)
		if (strcmp(gen_of(e, "from"), from) == 0) {
			buf_puts(b, right);
			put_topic(b, e, whose);
		}
}

void
gen_acl_bodies(struct gen *g, struct buf *b)
{
	buf_printf(b, head, "mosquitto.acl");
	buf_puts(b,
	    "# Of the listeners for bodies.  A body's user is its terminal id: "
	    "it speaks\n# for itself, and hears what itself is told.\n");
	put_rights(g, b, "body", "pattern write ", "%u");
	put_rights(g, b, "server", "pattern read ", "%u");
}

void
gen_acl_services(struct gen *g, struct buf *b)
{
	buf_printf(b, head, "mosquitto-services.acl");
	buf_puts(b,
	    "# Of the listener for services.  The bridge hears all bodies and "
	    "commands them;\n# it writes where bodies do to clear what should "
	    "not be kept.  The other user\n# only asks whether the broker "
	    "lives.\nuser mqtt-bridge\n");
	put_rights(g, b, "body", "topic readwrite ", "+");
	put_rights(g, b, "server", "topic write ", "+");
	buf_puts(b, "\nuser health\ntopic read $SYS/broker/uptime\n");
}
