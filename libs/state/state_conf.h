/*
 * state_conf: settings of Redis that all services share, as rows of their
 * tables.
 */
#ifndef STATE_STATE_CONF_H
#define STATE_STATE_CONF_H

#include <stdint.h>

#include "core/conf.h"

struct state_conf {
	/* Of sentinels, apart from the login of Redis, which is in REDIS_URL.
	 */
	const char *sentinel_user;
	const char *sentinel_password;
	int64_t wait_replicas, wait_ms;
};

/* The rows that fill the member m of struct t. */
#define STATE_CONF_N 4
#define STATE_CONF_OPTS(t, m)                                                \
	{ "SENTINEL_USERNAME", CONF_STR, CONF_AT(t, m.sentinel_user), "", 0, \
		0, "user of the sentinels of REDIS_URL; empty: none" },      \
	    { "SENTINEL_PASSWORD", CONF_SECRET,                              \
		    CONF_AT(t, m.sentinel_password), "", 0, 0,               \
		    "password of the sentinels; empty: none" },              \
	    { "REDIS_WAIT_REPLICAS", CONF_INT, CONF_AT(t, m.wait_replicas),  \
		    "0", 0, 5,                                               \
		    "replicas that must have a write before it counts; 0: "  \
		    "none" },                                                \
	{                                                                    \
		"REDIS_WAIT_MS", CONF_INT, CONF_AT(t, m.wait_ms), "500", 10, \
		    10000, "longest wait for replicas, ms"                   \
	}

#endif /* !STATE_STATE_CONF_H */
