/*
 * state_conf: settings of Redis that all services share, as rows of their
 * tables.
 */
#ifndef STATE_STATE_CONF_H
#define STATE_STATE_CONF_H

#include "core/conf.h"

/* The login of sentinels, apart from that of Redis, which is in REDIS_URL. */
struct state_conf {
	const char *sentinel_user;
	const char *sentinel_password;
};

/* The rows that fill the member m of struct t. */
#define STATE_CONF_N 2
#define STATE_CONF_OPTS(t, m)                                                \
	{ "SENTINEL_USERNAME", CONF_STR, CONF_AT(t, m.sentinel_user), "", 0, \
		0, "user of the sentinels of REDIS_URL; empty: none" },      \
	{                                                                    \
		"SENTINEL_PASSWORD", CONF_SECRET,                            \
		    CONF_AT(t, m.sentinel_password), "", 0, 0,               \
		    "password of the sentinels; empty: none"                 \
	}

#endif /* !STATE_STATE_CONF_H */
