/*
 * spare: slots from which a whole pointer is exchanged, so that a slot that is
 * emptied and filled meanwhile does no harm.
 */
#include "core/spare.h"

#include <stddef.h>

#include "core/mem.h"

void *
spare_take(struct spare *s)
{
	void *p;

	for (size_t i = 0; i < NELEM(s->all); i++) {
		/* Reading first: an exchange would take the line in vain. */
		if (atomic_load_explicit(&s->all[i], memory_order_relaxed) ==
		    NULL)
			continue;
		p = atomic_exchange_explicit(
		    &s->all[i], NULL, memory_order_acquire);
		if (p != NULL)
			return p;
	}
	return NULL;
}

bool
spare_put(struct spare *s, void *p)
{
	void *none;

	for (size_t i = 0; i < NELEM(s->all); i++) {
		none = NULL;
		if (atomic_load_explicit(&s->all[i], memory_order_relaxed) ==
			NULL &&
		    atomic_compare_exchange_strong_explicit(&s->all[i], &none,
			p, memory_order_release, memory_order_relaxed))
			return true;
	}
	return false;
}
