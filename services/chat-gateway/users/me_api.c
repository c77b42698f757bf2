/*
 * GET /v1/me: who the caller is.
 */
#include "auth/auth.h"
#include "gateway.h"
#include "handlers.h"
#include "svc/svc.h"
#include "wire/msgs.h"

static enum wire_me_role
me_role(enum wire_role role)
{
	switch (role) {
	case WIRE_ROLE_OWNER:
		return WIRE_ME_ROLE_OWNER;
	case WIRE_ROLE_TERMINAL:
		return WIRE_ME_ROLE_TERMINAL;
	case WIRE_ROLE_PROVISIONER:
		return WIRE_ME_ROLE_PROVISIONER;
	case WIRE_ROLE_NOTIFIER:
		return WIRE_ME_ROLE_NOTIFIER;
	case WIRE_ROLE_OPERATOR:
		break;
	}
	return WIRE_ME_ROLE_OPERATOR;
}

void
on_me(void *app, struct svc_call *c)
{
	const struct gateway *g = app;
	const struct auth_caller *a = svc_call_caller(c);
	char until[WALL_FORMAT_MAX];
	struct wire_me me = { .role = WIRE_ME_ROLE_OPERATOR,
		.user_id = str_of(g->conf->user_id),
		.version = str_of(svc_version()) };

	if (a != NULL) {
		me.authenticated = true;
		me.role = me_role(a->role);
		me.user_id = a->user;
		me.tenant = a->tenant;
		me.terminal_id = a->terminal_id;
		if (a->until.ms > 0) {
			wall_format(a->until, 0, until);
			me.expires_at = str_of(until);
		}
	}
	svc_reply(c, &me);
}
