/*
 * proxy_secret: the file with which the runner writes the paths of runs and the
 * proxy checks them.
 */
#ifndef ENGINE_RUNNER_PROXY_SECRET_H
#define ENGINE_RUNNER_PROXY_SECRET_H

#include "core/rc.h"
#include "proxy/proxy_path.h"

/* Its name in RUNS_DIR. */
#define PROXY_SECRET_FILE "proxy.secret"

/*
 * proxy_secret_load(runs_dir, secret):
 * Read it; if it does not exist, make one that only this user can read, and the
 * folder.  Who does that at the same time gets the same secret.  RC_DOWN: it
 * cannot be read or made, RC_INVALID: it is no secret; the reason is logged.
 * Blocks.
 */
enum rc proxy_secret_load(
    const char *runs_dir, unsigned char secret[PROXY_SECRET_BYTES]) RC_CHECK;

#endif /* !ENGINE_RUNNER_PROXY_SECRET_H */
