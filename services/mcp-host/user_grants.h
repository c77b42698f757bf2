/*
 * user_grants: what a user has decided of tools, and what follows from it.
 */
#ifndef USER_GRANTS_H
#define USER_GRANTS_H

#include <stddef.h>

#include "core/rc.h"
#include "core/str.h"
#include "grant.h"

struct arena;
struct host;
struct mcp_grant;
struct toolbox_tool;

struct user_grants {
	struct mcp_grant *list;
	size_t n;
};

/*
 * user_grants_read(h, user, a, out): A call; *out is in a.
 * user_grants_allow(h, user, soul, t): A call: store that the soul may call the
 *     tool, as it is defined now, without asking.
 */
enum rc user_grants_read(struct host *h, struct str user, struct arena *a,
    struct user_grants *out) RC_CHECK;
enum rc user_grants_allow(struct host *h, struct str user, struct str soul,
    const struct toolbox_tool *t) RC_CHECK;

/* user_grants_decide(g, t, soul): Of a tool for a soul. */
struct grant_decision user_grants_decide(
    const struct user_grants *g, const struct toolbox_tool *t, struct str soul);

#endif /* !USER_GRANTS_H */
