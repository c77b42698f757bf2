/*
 * What a NATS server sends: each frame lies within the input, is not complete
 * before its last byte, and is copied as it is.
 */
#include <stdlib.h>

#include "bus/bus_internal.h"
#include "must.h"

static void
check_within(struct str in, struct str part)
{
	if (part.p != NULL && (part.p < in.p || part.p + part.n > in.p + in.n))
		abort();
}

static void
check_msg(const struct bus_frame *f)
{
	struct bus_msg *m = bus_msg_new(NULL, f);
	struct str v = bus_headers_find(m->headers, "Nats-Msg-Id");

	if (!str_eq(m->subject, f->subject) || !str_eq(m->data, f->data))
		abort();
	check_within(m->headers, v);
	if (bus_headers_status(m->headers) != bus_headers_status(f->headers))
		abort();
	bus_msg_free(m);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct str in = { (const char *)data, n };
	struct bus_frame f, part;
	size_t used, n_part, k;

	while (in.n > 0 && bus_frame_parse(in, &f, &used) == RC_OK) {
		if (used == 0 || used > in.n)
			abort();
		check_within(in, f.subject);
		check_within(in, f.reply);
		check_within(in, f.headers);
		check_within(in, f.data);
		check_within(in, f.text);
		for (k = used < 64 ? used : 64; k > 0; k--)
			if (bus_frame_parse((struct str){ in.p, used - k },
				&part, &n_part) != RC_RETRY)
				abort();
		if (f.op == BUS_OP_MSG)
			check_msg(&f);
		in = (struct str){ in.p + used, in.n - used };
	}
	return 0;
}
