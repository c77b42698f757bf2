/*
 * user_tools: the tools that a user has: those of the operator's servers for
 * the user's tenant, of the user's own, and of entries of the catalogue that
 * the user has approved.
 */
#ifndef USER_TOOLS_H
#define USER_TOOLS_H

#include <stddef.h>

#include "core/rc.h"
#include "core/str.h"
#include "toolbox.h"

struct host;

/*
 * user_tools_get(h, user, out): A call; *out is freed with user_tools_free().
 */
enum rc user_tools_get(
    struct host *h, struct str user, struct user_tools *out) RC_CHECK;
void user_tools_free(struct user_tools *t);

/* user_tenant(user): Of "<tenant>/<user>"; "": the user has none. */
struct str user_tenant(struct str user);

/* user_tools_forget(h): Toolboxes, since what is configured has changed. */
void user_tools_forget(struct host *h);

#endif /* !USER_TOOLS_H */
