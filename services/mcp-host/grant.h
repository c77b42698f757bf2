/*
 * grant: whether a tool may be called without asking its user.
 *
 * The operator's configuration says so, or the user does, by a grant for a soul
 * and a tool.  A grant is for one definition (its pin): with another one the
 * tool is asked for anew.  What a server claims of its tools counts only where
 * the operator trusts it.
 *
 * Pure; any thread.
 */
#ifndef GRANT_H
#define GRANT_H

#include <stdbool.h>

#include "core/str.h"
#include "mcp_config.h"

struct catalogue_tool;

/* What a user has decided of a tool; policy MCP_POLICY_UNSET: nothing. */
struct grant {
	enum mcp_policy policy;
	struct str pin; /* the definition it is for; absent: any */
};

struct grant_decision {
	enum mcp_policy policy;     /* never MCP_POLICY_UNSET */
	bool read_only, idempotent; /* as far as the server is trusted */
	bool changed; /* the user has granted another definition */
};

/*
 * grant_decide(s, t, definition, g):
 * Of a tool of the server s with that definition.  What the operator denies no
 * grant allows; what the operator allows a user may deny, or be asked for.
 */
struct grant_decision grant_decide(const struct mcp_server *s,
    const struct catalogue_tool *t, struct str definition,
    const struct grant *g);

enum grant_verdict {
	GRANT_ALLOWED,
	GRANT_FORBIDDEN,
	GRANT_APPROVAL_REQUIRED,
	GRANT_DEFINITION_CHANGED
};

/* A call of the tool that was decided of. */
struct grant_call {
	struct str definition; /* the tool's */
	struct str requested;  /* the one that the caller knows */
	struct str seal;       /* of the call, by tool_seal() */
	struct str approved;   /* the seal that the user approved; absent: none
				*/
};

/* grant_check(d, c): Whether the call may be made. */
enum grant_verdict grant_check(
    const struct grant_decision *d, const struct grant_call *c);

#endif /* !GRANT_H */
