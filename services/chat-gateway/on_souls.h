/*
 * on_souls: the life of souls: list, create, delete, bind to a body.
 */
#ifndef CHAT_GATEWAY_ON_SOULS_H
#define CHAT_GATEWAY_ON_SOULS_H

#include "core/rc.h"
#include "core/str.h"

struct gateway;
struct soul;
struct svc_call;

/* Handlers; app is a struct gateway. */
void on_souls_list(void *app, struct svc_call *c);
void on_souls_create(void *app, struct svc_call *c);
void on_souls_delete(void *app, struct svc_call *c);
void on_souls_select(void *app, struct svc_call *c);

/* Longest name in code points, as the schemas have it. */
#define SOULS_NAME_MAX 128

struct souls_new {
	struct str user_id, name, mbti_type;
};

/*
 * souls_make(g, c, new, out):
 * Store a new soul; *out is what was stored, in the memory of c.  RC_INVALID if
 * mbti_type is no type, RC_CONFLICT if the user has a soul of that name,
 * RC_TOOBIG if he has as many as he may; otherwise as soul_create().
 */
enum rc souls_make(struct gateway *g, struct svc_call *c,
    const struct souls_new *new, struct soul *out) RC_CHECK;

/* souls_refuse(c, rc): Answer what souls_make() failed with, and end c. */
void souls_refuse(struct svc_call *c, enum rc rc);

#endif /* !CHAT_GATEWAY_ON_SOULS_H */
