/*
 * The arguments, and the help.
 */
#include "passwords.h"

#include <stdio.h>
#include <string.h>

#include "bridge.h"
#include "core/mem.h"
#include "on_passwords.h"

#define USAGE 64

static int
refuse(const char *why, const char *what)
{
	fprintf(stderr,
	    "mqtt-bridge passwords: %s%s; see mqtt-bridge passwords --help\n",
	    why, what);
	return USAGE;
}

/* Where the value of an option goes; NULL: there is no such option. */
static const char **
place(struct passwords_ask *ask, const char **pid, const char *name)
{
	if (strcmp(name, "--file") == 0)
		return &ask->file;
	if (strcmp(name, "--also") == 0)
		return &ask->also;
	if (strcmp(name, "--pid") == 0)
		return pid;
	if (strcmp(name, "--pid-file") == 0)
		return &ask->reload.pid_file;
	if (strcmp(name, "--reload-command") == 0)
		return &ask->reload.command;
	return NULL;
}

/* 0, or USAGE after saying why. */
static int
arguments(struct passwords_ask *ask, int argc, char *const argv[])
{
	const char *pid = NULL, **value;
	int i;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--once") == 0) {
			ask->once = true;
			continue;
		}
		value = place(ask, &pid, argv[i]);
		if (value == NULL)
			return refuse("what is this? ", argv[i]);
		if (i + 1 == argc || argv[i + 1][0] == '\0')
			return refuse("there is nothing behind ", argv[i]);
		*value = argv[++i];
	}
	if (ask->file == NULL)
		return refuse("say --file", "");
	if (pid != NULL &&
	    str_to_i64(str_of(pid), 1, INT32_MAX, &ask->reload.pid) != RC_OK)
		return refuse("this is no process: ", pid);
	if ((pid != NULL) + (ask->reload.pid_file != NULL) +
		(ask->reload.command != NULL) >
	    1)
		return refuse("one of --pid, --pid-file, --reload-command", "");
	return 0;
}

static int
passwords(const struct svc_run *r)
{
	const struct bridge_conf *conf = r->conf;
	struct passwords_ask ask = { .redis_url = conf->redis_url };
	int code = arguments(&ask, r->argc, r->argv);

	return code != 0 ? code : passwords_keep(&ask);
}

const struct svc_command passwords_command = {
	.name = "passwords",
	.usage = "--file FILE [--also FILE] [--once]\n"
		 "--file FILE [--also FILE] --pid N | --pid-file FILE | "
		 "--reload-command CMD",
	.summary = "keep mosquitto's password file as the bodies' identities",
	.help =
	    "  --file            the file that mosquitto reads; replaced as a "
	    "whole, mode 0600\n"
	    "  --also            whose lines come first, as of "
	    "mosquitto_passwd: services\n"
	    "  --pid, --pid-file mosquitto, which gets SIGHUP when the file "
	    "has changed\n"
	    "  --reload-command  for sh, instead of the signal\n"
	    "  --once            write the file, tell mosquitto, and end\n"
	    "\n"
	    "Looks once a second whether an identity was made, changed or "
	    "revoked, and writes\n"
	    "all that have a password and are not revoked.  mosquitto then "
	    "ends the sessions\n"
	    "of those whose password is gone or another.  As it looks at each "
	    "of them for that,\n"
	    "it is told at most once a second, and once in a millisecond for "
	    "each line.\n"
	    "While Redis is away the file stays as it is; so it does where "
	    "Redis knows of no\n"
	    "identity at all, but the file does.\n\n"
	    "Needs REDIS_URL of the configuration only.\n\n"
	    "Exit codes: 0 ended by a signal or done, 1 it could not be done, "
	    "or not before\n"
	    "a signal came (--once), 64 arguments, 78 configuration.\n",
	.fn = passwords,
};
