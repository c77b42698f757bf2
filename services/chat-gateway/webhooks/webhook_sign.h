/*
 * webhook_sign: signatures of requests to webhooks, as Standard Webhooks has
 * them.  Pure but for random numbers; any thread.
 */
#ifndef CHAT_GATEWAY_WEBHOOKS_WEBHOOK_SIGN_H
#define CHAT_GATEWAY_WEBHOOKS_WEBHOOK_SIGN_H

#include "core/rc.h"
#include "core/str.h"

/* "whsec_", 32 bytes in base64, and a NUL; "v1,", a SHA-256, and a NUL. */
#define WEBHOOK_SECRET_MAX    51
#define WEBHOOK_SIGNATURE_MAX 48

/* webhook_secret_new(dst): A new secret. */
void webhook_secret_new(char dst[WEBHOOK_SECRET_MAX]);

/*
 * webhook_sign(secret, parts, dst):
 * Of the id of a message, its time as Unix time in s, and its body: RC_INVALID
 * if it is no secret.
 */
enum rc webhook_sign(struct str secret, const struct str parts[3],
    char dst[WEBHOOK_SIGNATURE_MAX]) RC_CHECK;

#endif /* !CHAT_GATEWAY_WEBHOOKS_WEBHOOK_SIGN_H */
