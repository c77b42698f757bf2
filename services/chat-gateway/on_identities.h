/*
 * on_identities: the identities of bodies: made, changed, taken away, listed.
 */
#ifndef CHAT_GATEWAY_ON_IDENTITIES_H
#define CHAT_GATEWAY_ON_IDENTITIES_H

#include "core/rc.h"
#include "core/str.h"

struct credential;
struct gateway;
struct svc_call;

/* Handlers; app is a struct gateway. */
void on_terminals_mint(void *app, struct svc_call *c);
void on_terminals_rotate(void *app, struct svc_call *c);
void on_terminals_revoke(void *app, struct svc_call *c);
void on_identities_list(void *app, struct svc_call *c);

/*
 * identity_read(g, c, terminal, out):
 * The identity of a body as its maker sees it, in the memory of c: also one
 * that is revoked.  RC_NOENT if it has none, or one of another tenant than who
 * asks; otherwise as credential_read().
 */
enum rc identity_read(struct gateway *g, struct svc_call *c,
    struct str terminal, struct credential *out) RC_CHECK;

#endif /* !CHAT_GATEWAY_ON_IDENTITIES_H */
