#include "state/system.h"

#include "state/scripts.h"
#include "state/state_internal.h"

enum rc
system_boot(struct state *s, int64_t epoch, struct str version)
{
	struct script_call c;

	if (epoch <= 0 || version.n == 0)
		return RC_INVALID;
	call_begin(&c, &script_system_boot);
	call_key(&c, KEY_SYSTEM, STR_NONE, STR_NONE);
	call_num(&c, epoch);
	call_text(&c, version, SYSTEM_VERSION_MAX);
	return call_run(s, &c, 1, NULL);
}

enum rc
system_read(struct state *s, struct arena *a, struct system_state *out)
{
	struct record_reader rd = { .a = a };
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	*out = (struct system_state){ 0 };
	call_begin(&c, &script_system_read);
	call_key(&c, KEY_SYSTEM, STR_NONE, STR_NONE);
	rc = call_run(s, &c, 3, &r);
	if (rc == RC_OK) {
		out->boot_count = record_num(&rd, state_reply_at(r, 1));
		out->version = record_text(&rd, state_reply_at(r, 2));
		rc = record_end(&rd, c.keys[0]);
	}
	state_reply_free(r);
	return rc;
}
