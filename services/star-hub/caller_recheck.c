/*
 * caller_recheck: whether the tokens of open connections are still valid: a few
 * at a time, so that each has its turn within CHECK_ROUND_MS.
 */
#include <stdlib.h>

#include "core/fiber.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "hub.h"
#include "state/terminal.h"
#include "svc/svc.h"

/* With AUTH_POLL_MS less than 30 s from a change to the last close frame. */
#define CHECK_ROUND_MS 20000
#define CHECK_MS       250
#define CHECK_ROUNDS   (CHECK_ROUND_MS / CHECK_MS)
/* Bytes of a terminal's identity. */
#define CREDENTIAL_BYTES_MAX 4096

/* A terminal that is being looked up. */
struct caller_check {
	struct hub *h;
	struct client *client; /* NULL: it has ended */
	struct auth_caller caller;
	char tenant[AUTH_TENANT_MAX + 1], id[ID_MAX + 1];
};

static void
check_close(struct hub *h, struct client *c, const char *why)
{
	log_info("star.token_revoked", LOG_V("id", c->identity.id),
	    LOG_V("tenant", c->identity.tenant), LOG_S("why", why));
	caller_recheck_end(h, c);
	client_close(c, WS_CLOSE_POLICY, str_of(why));
}

static void
check_terminal(void *arg)
{
	struct caller_check *k = arg;
	const char *why;
	enum rc rc = auth_recheck(svc_auth(k->h->svc), &k->caller, &why);

	if (k->client != NULL) {
		k->client->recheck = NULL;
		/* That it cannot be found out is no reason to close it. */
		if (rc == RC_DENIED && !k->client->closing)
			check_close(k->h, k->client, why);
	}
	free(k);
}

/* In a fiber, which may outlive the client and its texts. */
static void
check_start_terminal(struct hub *h, struct client *c)
{
	struct caller_check *k = mem_zalloc(sizeof(*k));

	k->h = h;
	k->client = c;
	k->caller = c->caller;
	str_copy(c->caller.terminal_id, k->id, sizeof(k->id));
	k->caller.terminal_id = str_of(k->id);
	str_copy(c->caller.tenant, k->tenant, sizeof(k->tenant));
	if (c->caller.tenant.p != NULL)
		k->caller.tenant = str_of(k->tenant);
	c->recheck = k;
	fiber_start(check_terminal, k);
}

static void
check_client(struct hub *h, struct client *c)
{
	const char *why;

	if (c->caller.proof.kind == AUTH_BY_SECRET) {
		if (c->recheck == NULL)
			check_start_terminal(h, c);
	} else if (auth_recheck(svc_auth(h->svc), &c->caller, &why) ==
	    RC_DENIED) {
		check_close(h, c, why);
	}
}

static void check_on_timer(void *arg);

static void
check_set_timer(struct hub *h)
{
	loop_timer_set(h->loop, &h->recheck_timer,
	    mono_add_ms(clock_mono(), CHECK_MS), check_on_timer, h);
}

static void
check_on_timer(void *arg)
{
	struct hub *h = arg;
	size_t n = h->ncallers / CHECK_ROUNDS + 1;
	struct client *c;

	for (; n > 0 && (c = TAILQ_FIRST(&h->callers)) != NULL; n--) {
		TAILQ_REMOVE(&h->callers, c, auth_link);
		TAILQ_INSERT_TAIL(&h->callers, c, auth_link);
		check_client(h, c);
	}
	check_set_timer(h);
}

void
caller_recheck_begin(struct hub *h, struct client *c)
{
	if (svc_auth(h->svc) == NULL || c->rechecked)
		return;
	c->rechecked = true;
	h->ncallers++;
	TAILQ_INSERT_TAIL(&h->callers, c, auth_link);
}

void
caller_recheck_end(struct hub *h, struct client *c)
{
	if (c->recheck != NULL)
		c->recheck->client = NULL;
	c->recheck = NULL;
	if (!c->rechecked)
		return;
	c->rechecked = false;
	h->ncallers--;
	TAILQ_REMOVE(&h->callers, c, auth_link);
}

/* ---- identities of terminals ---- */

static enum rc
check_find_credential(
    void *arg, struct str id, struct str *hash, struct str *tenant)
{
	struct hub *h = arg;

	arena_reset(h->credentials);
	return credential_find_hash(h->state, id, h->credentials, hash, tenant);
}

void
caller_recheck_start(struct hub *h)
{
	if (svc_auth(h->svc) == NULL)
		return;
	h->credentials = arena_new(CREDENTIAL_BYTES_MAX);
	auth_accept_terminals(svc_auth(h->svc), check_find_credential, h);
	check_set_timer(h);
}

void
caller_recheck_stop(struct hub *h)
{
	loop_timer_cancel(h->loop, &h->recheck_timer);
	arena_free(h->credentials);
}
