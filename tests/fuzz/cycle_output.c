/*
 * What a model has thought: an output that is read can be encoded, and is
 * within the limits; one that is not has a reason.
 */
#include "cycle_output.h"

#include "core/buf.h"
#include "must.h"
#include "wire/wire.h"

#define ARENA_MAX (4UL * 1024 * 1024)

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct arena *a = arena_new(ARENA_MAX);
	struct buf b = BUF_INIT(ARENA_MAX);
	char why[CYCLE_WHY_MAX];
	struct cycle_output out;
	struct wire_err err;
	enum rc rc;

	rc = cycle_output_read(
	    (struct str){ (const char *)data, n }, a, &out, why);
	must(rc == RC_OK || rc == RC_TOOBIG ||
	    (rc == RC_INVALID && why[0] == '/'));
	if (rc == RC_OK)
		must(wire_encode(&wire_navigator_output_desc, &out.o, &b,
			 &err) == RC_OK);
	buf_free(&b);
	arena_free(a);
	return 0;
}
