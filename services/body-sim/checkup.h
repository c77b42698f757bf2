/*
 * checkup: body-sim check: what a hardware maker runs against a real body.
 */
#ifndef BODY_SIM_CHECKUP_H
#define BODY_SIM_CHECKUP_H

#include <stdbool.h>
#include <stdint.h>

struct checkup_conf {
	const char *terminal_id;
	const char *broker_url;
	const char *user, *password;
	const char *ca_file, *cert_file, *key_file;
	const char *prefix;
	double seconds;
	double ttl_s;
	const char *kick;                            /* "": nobody */
	const char *invoke_skill, *invoke_arguments; /* "": none */
	bool probe;
};

struct svc_run;

/* checkup(r): All of it, --help included; the exit code. */
int checkup(const struct svc_run *r);

#endif /* !BODY_SIM_CHECKUP_H */
