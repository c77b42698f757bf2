/*
 * Targets of requests at the model proxy: nothing is accepted that was not
 * written with the secret; what was, is read as it was written.
 */
#include <stdio.h>

#include "core/mem.h"
#include "must.h"
#include "proxy/proxy_path.h"

static const unsigned char path_secret[PROXY_SECRET_BYTES] = { 7 };

static bool
path_is_within(struct str s, struct str in)
{
	return s.p >= in.p && s.p + s.n <= in.p + in.n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const struct str in = { (const char *)bytes, n };
	char path[PROXY_PATH_MAX];
	struct proxy_grant g, same;
	struct str rest, behind;
	enum rc rc = proxy_path_read(path_secret, in, &g, &rest);

	/* A MAC is not found by chance. */
	must(rc == RC_INVALID || rc == RC_DENIED);
	if (rc != RC_DENIED)
		return 0;
	must(path_is_within(g.run, in) && path_is_within(rest, in));
	must(rest.n > 0 && rest.p[0] == '/' && g.epoch >= 0 && g.budget >= 0);
	(void)proxy_path_engine(g.run);
	must(proxy_path_write(path_secret, &g, path) == RC_OK);
	must(proxy_path_read(path_secret, str_of(path), &same, &behind) ==
	    RC_INVALID);
	snprintf(path + strlen(path), sizeof(path) - strlen(path), "/");
	must(proxy_path_read(path_secret, str_of(path), &same, &behind) ==
	    RC_OK);
	must(str_eq(same.run, g.run) && same.epoch == g.epoch);
	must(same.budget == g.budget && str_eq(behind, STR("/")));
	return 0;
}
