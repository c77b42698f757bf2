/*
 * svc_ws: WebSocket connections of a service, at HTTP_ADDR: a row of its table.
 *
 * Access control is that of HTTP routes.  With AUTH_TOKENS or AUTH_JWKS a
 * client needs a token, in its Authorization header or, since pages of browsers
 * cannot set that, as a subprotocol "soul.bearer.<token>"; the limits of
 * addresses and tokens then count handshakes, and connections at a time.
 * Without it the Host must be this machine.  A page's Origin must be the Host,
 * or one of CORS_ORIGINS.
 *
 * A service with it has no HTTP routes.  A drain closes the connections with
 * 1001, in portions, so that their clients do not all reconnect at once.
 * Everything runs on the loop thread.
 */
#ifndef SVC_SVC_WS_H
#define SVC_SVC_WS_H

#include "ws/ws.h"

struct auth_caller;
struct svc;

struct svc_ws {
	const char *name; /* of the listener, in logs and audit events */
	unsigned roles;   /* that may connect: 1U << enum wire_role, … */
	/*
	 * A client without any token may open, and is the service's to
	 * authenticate (svc_ws_check()), and to close if that takes long:
	 * on_request() has who NULL, although svc_auth() is not.
	 */
	bool token_later;
	/*
	 * Fill what is limits and times in o; conf is the service's
	 * configuration.
	 */
	void (*limits)(const void *conf, struct ws_opts *o);
	/*
	 * As in struct ws_handler, of clients that may connect; app is what the
	 * service's start returned.  who is valid during the call; NULL without
	 * authentication.  on_end() is called only for peers with a
	 * ws_peer_set() that is not NULL, which is the service's to use.
	 */
	void (*on_request)(void *app, struct ws_peer *p,
	    const struct http_head *h, const struct auth_caller *who);
	void (*on_message)(
	    void *app, struct ws_peer *p, struct str data, bool binary);
	void (*on_read)(void *app, struct ws_peer *p); /* may be NULL */
	void (*on_room)(void *app, struct ws_peer *p);
	void (*on_end)(void *app, struct ws_peer *p, const struct ws_end *end);
	/* As in struct ws_handler, of all handshakes; may be NULL. */
	void (*on_reject)(void *app, int status);
	/* Reason of the close frames of a drain. */
	const char *drain_reason;
	/* What a plain GET gets, without a token; see struct ws_opts. */
	const struct ws_file *files;
	size_t nfiles;
};

/* svc_ws_listener(s): To count what it has to send; NULL: def->ws is. */
struct ws *svc_ws_listener(struct svc *s);

/*
 * The result of a check: RC_OK; RC_DENIED: the token is not valid, its role may
 * not connect, or a rate is exceeded; another: not possible now.  who is valid
 * during the call; why is a reason that may be sent to the client.
 */
typedef void (*svc_ws_check_fn)(void *app, struct ws_peer *p, enum rc rc,
    const struct auth_caller *who, const char *why);

/*
 * svc_ws_check(s, p, token, fn):
 * Check a token that an open connection has sent, as that of a handshake is,
 * with the same rates, metrics and audit events; svc_auth() is not NULL.  token
 * is copied.  fn is called one time, possibly before it returns, unless p has
 * ended by then.
 */
void svc_ws_check(
    struct svc *s, struct ws_peer *p, struct str token, svc_ws_check_fn fn);

#endif /* !SVC_SVC_WS_H */
