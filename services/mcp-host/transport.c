/*
 * transport: see transport.h; each call goes to the kind's function.
 */
#include "transport.h"

#include <stddef.h>

enum rc
transport_send(struct transport *t, const struct transport_message *m)
{
	return t->ops->send(t, m);
}

void
transport_cancel(struct transport *t, int64_t id)
{
	if (t->ops->cancel != NULL)
		t->ops->cancel(t, id);
}

void
transport_set_version(struct transport *t, const char *version)
{
	if (t->ops->set_version != NULL)
		t->ops->set_version(t, version);
}

void
transport_close(struct transport *t)
{
	t->ops->close(t);
}

void
transport_free(struct transport *t)
{
	if (t != NULL)
		t->ops->free(t);
}
