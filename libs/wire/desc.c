/*
 * The table of all messages.
 */
#include "wire/desc.h"

#include <stdio.h>

#include "wire/iface.h"
#include "wire/wire.h"

const char *
wire_desc_name(const struct wire_desc *d)
{
	return d->name;
}

size_t
wire_desc_size(const struct wire_desc *d)
{
	return d->size;
}

struct str *
wire_text_of(const struct wire_desc *d, void *msg, struct str name)
{
	for (uint32_t i = 0; i < d->n; i++) {
		const struct wire_field *f = &d->fields[i];
		if (f->type.kind == WIRE_STR && str_eq(f->name, name))
			return (struct str *)(void *)((char *)msg + f->off);
	}
	return NULL;
}

const struct wire_desc *
wire_desc_find(struct str name)
{
	size_t lo = 0;
	size_t hi = wire_descs_n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = str_cmp(name, str_of(wire_descs[mid]->name));
		if (c == 0)
			return wire_descs[mid];
		if (c < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

const struct wire_desc *
wire_desc_at(size_t i)
{
	return i < wire_descs_n ? wire_descs[i] : NULL;
}

void
wire_err_text(const struct wire_err *err, char *dst, size_t size)
{
	char text[sizeof(err->path) + sizeof(err->why) + sizeof(": ")];
	(void)snprintf(text, sizeof(text), "%s%s%s", err->path,
	    err->path[0] != '\0' ? ": " : "", err->why);
	str_copy(str_of(text), dst, size);
}

/* ---- iface ---- */

/*
 * Looking things up in the generated tables of channels.
 */

const struct wire_event *
wire_event_find(struct str type)
{
	for (size_t i = 0; i < wire_events_n; i++)
		if (str_eq(str_of(wire_events[i].type), type))
			return &wire_events[i];
	return NULL;
}
