/*
 * proxy_path: the path of a run's base URL at the model proxy,
 * "/r/<run>/<epoch>/<budget>/<mac>", which only those who have the secret can
 * write.  Pure.
 */
#ifndef ENGINE_RUNNER_PROXY_PATH_H
#define ENGINE_RUNNER_PROXY_PATH_H

#include <stddef.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"

/* Bytes of the secret, which is random. */
#define PROXY_SECRET_BYTES 32
/* Characters of a run's id. */
#define PROXY_RUN_MAX 64
/* Room for a path, NUL included. */
#define PROXY_PATH_MAX 192

/* What a path permits. */
struct proxy_grant {
	struct str run;
	int64_t epoch;  /* of the run's record, ≥ 0 */
	int64_t budget; /* tokens of the whole run, ≥ 0 */
};

/*
 * proxy_path_write(secret, g, dst):
 * The path of g, with a NUL.  RC_INVALID unless the run's id is
 * [A-Za-z0-9_-]{1,64} and the numbers are not negative.
 */
enum rc proxy_path_write(const unsigned char secret[PROXY_SECRET_BYTES],
    const struct proxy_grant *g, char dst[PROXY_PATH_MAX]) RC_CHECK;

/*
 * proxy_path_read(secret, target, g, rest):
 * Read a request's target that begins with such a path; *rest is what follows,
 * from its slash on.  RC_INVALID: it does not begin so; RC_DENIED: its MAC is
 * not that of the secret.  Strings point into target.
 */
enum rc proxy_path_read(const unsigned char secret[PROXY_SECRET_BYTES],
    struct str target, struct proxy_grant *g, struct str *rest) RC_CHECK;

/*
 * proxy_path_engine(run):
 * The engine in a run's id, "<time>-<engine>-<hex>"; absent if it has none.
 */
struct str proxy_path_engine(struct str run);

#endif /* !ENGINE_RUNNER_PROXY_PATH_H */
