/*
 * The rules of delivery.
 */
#include "delivery.h"

bool
delivery_late(struct wall now, const struct wall deadlines[2])
{
	int i;

	for (i = 0; i < 2; i++)
		if (deadlines[i].ms != 0 && now.ms > deadlines[i].ms)
			return true;
	return false;
}

bool
delivery_before(const struct delivery_facts *f, struct delivery *d)
{
	*d = (struct delivery){ RC_OK, WIRE_DELIVERY_STATE_LATE };
	if (delivery_late(f->now, f->deadlines))
		return false;
	if (!f->up) {
		d->rc = RC_DOWN;
		return false;
	}
	if (f->known != RC_OK) {
		/* Nothing was sent, so whatever it was, it may be tried again.
		 */
		d->rc = f->known == RC_TIMEOUT ? RC_DOWN : f->known;
		return false;
	}
	d->state = WIRE_DELIVERY_STATE_OFFLINE;
	return f->present;
}

struct delivery
delivery_after(enum rc rc)
{
	switch (rc) {
	case RC_OK:
		return (
		    struct delivery){ RC_OK, WIRE_DELIVERY_STATE_DELIVERED };
	case RC_NOENT:
		return (struct delivery){ RC_OK,
			WIRE_DELIVERY_STATE_NO_SUBSCRIBER };
	default:
		return (struct delivery){ rc, WIRE_DELIVERY_STATE_OFFLINE };
	}
}
