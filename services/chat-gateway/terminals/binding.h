/*
 * binding: which soul a terminal is bound to.
 */
#ifndef CHAT_GATEWAY_TERMINALS_BINDING_H
#define CHAT_GATEWAY_TERMINALS_BINDING_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"

struct gateway;
struct soul;
struct svc_call;
struct terminal;

/*
 * binding_check(g, c, user, t):
 * Whether the chat request c may start: its terminal is bound by its user
 * (*user, in the memory of c) and, if it names a soul, to that one.  An unbound
 * terminal is bound to the soul that soul_hint names, that of the request or of
 * the terminal's last report; with SOUL_AUTO_CREATE a missing soul is created.
 * *t is the record as it was read, which may be before it was bound.  False: c
 * has been ended.
 */
bool binding_check(struct gateway *g, struct svc_call *c, struct str *user,
    struct terminal *t);

/*
 * binding_match_hint(list, n, hint, found):
 * The number of souls whose id or name is hint; *found is the last of them, or
 * NULL.  An empty hint matches none.
 */
size_t binding_match_hint(const struct soul *list, size_t n, struct str hint,
    const struct soul **found);

#endif /* !CHAT_GATEWAY_TERMINALS_BINDING_H */
