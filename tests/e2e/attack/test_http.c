/*
 * What a stranger, a body and another user are refused over HTTP, while a
 * neighbour talks.
 */
#include "e2e/rig/lock.h"
#include "e2e/rig/neighbour.h"

STACK_SHARED({ .locked = true })

KIT_TEST_T(the_neighbour_is_served, 60)
{
	struct owner o = neighbour_settle(&stack);
	struct neighbour_saw saw;

	neighbour_end(neighbour_begin(&o), &saw);
	ck_assert_uint_ge(saw.commands, 1);
}
