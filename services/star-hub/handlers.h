/*
 * handlers: the life of the hub, and what clients do.
 */
#ifndef STAR_HUB_HANDLERS_H
#define STAR_HUB_HANDLERS_H

#include <stdbool.h>

#include "core/conf.h"
#include "hub.h"
#include "svc/svc.h"

struct auth_caller;
struct command_run;
struct envelope;
struct ws_opts;

/* The service's options. */
#define HUB_OPTS_N (19 + 2 + STATE_CONF_N + OTLP_CONF_ROWS_N)
extern const struct conf_opt hub_opts[HUB_OPTS_N];

/* Its WebSocket connections. */
struct svc_ws;
extern const struct svc_ws hub_ws;

/* hub_check, hub_start, hub_drain, hub_stop: As in struct svc_def. */
void hub_check(const void *conf, struct buf *errors, struct buf *known);
void *hub_start(struct svc *s, const void *conf);
void hub_drain(void *app);
void hub_stop(void *app);

/* As in struct svc_ws. */
void hub_limits(const void *conf, struct ws_opts *o);
void on_connect(void *app, struct ws_peer *p, const struct http_head *h,
    const struct auth_caller *who);
void on_message(void *app, struct ws_peer *p, struct str data, bool binary);
void on_read(void *app, struct ws_peer *p);
void on_room(void *app, struct ws_peer *p);
void on_end(void *app, struct ws_peer *p, const struct ws_end *end);
void on_reject(void *app, int status);

/*
 * connect_as(h, c, who):
 * An open connection that has authenticated now claims its identity, of which
 * client_auth_accepted() or client_auth_rejected() is the result.  NULL, or why
 * it may not, in words.
 */
const char *connect_as(
    struct hub *h, struct client *c, const struct auth_caller *who) RC_CHECK;

/*
 * on_command(h, c, e, f):
 * A message to the hub.  False: it is wrong, as f says, which the caller sends.
 */
bool on_command(struct hub *h, struct client *c, const struct envelope *e,
    struct hub_failure *f);

/* Of other services, as svc_fn. */
void on_star_list(void *app, struct svc_call *c);
void on_star_members(void *app, struct svc_call *c);
void on_star_history(void *app, struct svc_call *c);
void on_star_kick(void *app, struct svc_call *c);
void on_star_enter(void *app, struct svc_call *c);
void on_star_leave(void *app, struct svc_call *c);

/* The commands ls, kick and tap. */
#define HUB_COMMANDS_N 3
extern const struct svc_command hub_commands[HUB_COMMANDS_N];

/* on_admin(r): An admin_command, of operators only. */
bool on_admin(struct command_run *r);

#endif /* !STAR_HUB_HANDLERS_H */
