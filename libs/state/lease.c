/*
 * lease: one owner at a time, by Redis' clock.
 */
#include "state/scripts.h"
#include "state/state_internal.h"

#define OWNER_MAX 256

enum rc
lease_acquire(struct state *s, struct str name, struct str owner,
    int64_t ttl_ms, int64_t *epoch)
{
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	*epoch = 0;
	if (ttl_ms <= 0 || owner.n == 0)
		return RC_INVALID;
	call_begin(&c, &script_lease_acquire);
	call_key(&c, KEY_LEASE, name, STR_NONE);
	call_key(&c, KEY_LEASE_EPOCH, name, STR_NONE);
	call_text(&c, owner, OWNER_MAX);
	call_num(&c, ttl_ms);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK)
		*epoch = state_reply_int(state_reply_at(r, 1));
	state_reply_free(r);
	return rc;
}

enum rc
lease_release(struct state *s, struct str name, struct str owner)
{
	struct script_call c;

	call_begin(&c, &script_lease_release);
	call_key(&c, KEY_LEASE, name, STR_NONE);
	call_text(&c, owner, OWNER_MAX);
	return call_run(s, &c, 1, NULL);
}
