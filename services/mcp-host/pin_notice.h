/*
 * pin_notice: informs a user that a tool whose calls they had allowed has
 * another definition, so that it is asked for anew.
 */
#ifndef PIN_NOTICE_H
#define PIN_NOTICE_H

#include "core/str.h"

struct host;
struct pin_notices;
struct toolbox_tool;

/* Notices that are remembered; beyond, some may be sent a second time. */
#define PIN_NOTICES_MAX 4096

/* pin_notices_new(h), pin_notices_free(n): NULL is allowed. */
struct pin_notices *pin_notices_new(struct host *h);
void pin_notices_free(struct pin_notices *n);

/*
 * pin_notice_send(n, user, t):
 * The notice for t, unless it was sent for this definition; other replicas send
 * the same one, which counts once for minutes.
 */
void pin_notice_send(
    struct pin_notices *n, struct str user, const struct toolbox_tool *t);

#endif /* !PIN_NOTICE_H */
