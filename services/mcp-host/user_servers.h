/*
 * user_servers: users' MCP servers, as tool_servers of this process.
 *
 * What is stored is read for each list and call; a server that is stored as
 * before is the same tool_server, with its connection.
 */
#ifndef USER_SERVERS_H
#define USER_SERVERS_H

#include "core/rc.h"
#include "core/str.h"

struct host;
struct user_servers;
struct user_tools;

/* Servers that are remembered; those that were not used longest are closed. */
#define USER_SERVERS_MAX 1024

/* user_servers_new(h), user_servers_free(u): NULL is allowed. */
struct user_servers *user_servers_new(struct host *h);
void user_servers_free(struct user_servers *u);

/*
 * user_servers_add(u, user, t):
 * A call: add the user's servers to t, but for those that are called as one in
 * t, whose headers cannot be read, or that the catalogue does not have any
 * more. user_servers_forget(u, user, name): It was changed or deleted; close
 * it.
 */
enum rc user_servers_add(
    struct user_servers *u, struct str user, struct user_tools *t) RC_CHECK;
void user_servers_forget(
    struct user_servers *u, struct str user, struct str name);

#endif /* !USER_SERVERS_H */
