/*
 * named: whom a request may name, and who that is in full.  Private to svc,
 * pure.
 */
#ifndef SVC_NAMED_H
#define SVC_NAMED_H

#include "auth/auth.h"
#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"

/*
 * named_user(c, a, named, out, why):
 * The user that caller c means by named, of a or of c: himself, with or without
 * his tenant before him, or where nobody is named (absent if he is no user); of
 * operators and makers any user of their tenant, or any at all if they have
 * none.  RC_DENIED:
 * he may not act for named; RC_INVALID: that is no user id; why says so in
 * words.
 */
enum rc named_user(const struct auth_caller *c, struct arena *a,
    struct str named, struct str *out, const char **why) RC_CHECK;

/*
 * named_terminal(c, named, out, why):
 * The same of a body: one means itself; everybody else whom he names, or
 * nobody.
 */
enum rc named_terminal(const struct auth_caller *c, struct str named,
    struct str *out, const char **why) RC_CHECK;

#endif /* !SVC_NAMED_H */
