#include "credentials/password_sync.h"

#include <stdio.h>
#include <string.h>

#include "bridge.h"
#include "core/mem.h"

#define USAGE 64

static int
password_usage_error(const char *why, const char *what)
{
	fprintf(stderr,
	    "mqtt-bridge passwords: %s%s; see mqtt-bridge passwords --help\n",
	    why, what);
	return USAGE;
}

/* Where to store the value of an option; NULL: unknown option. */
static const char **
password_option(
    struct password_sync_options *options, const char **pid, const char *name)
{
	if (strcmp(name, "--file") == 0)
		return &options->file;
	if (strcmp(name, "--also") == 0)
		return &options->also;
	if (strcmp(name, "--pid") == 0)
		return pid;
	if (strcmp(name, "--pid-file") == 0)
		return &options->reload.pid_file;
	if (strcmp(name, "--reload-command") == 0)
		return &options->reload.command;
	return NULL;
}

/* 0, or USAGE after printing the error. */
static int
password_parse_args(
    struct password_sync_options *options, int argc, char *const argv[])
{
	const char *pid = NULL, **value;
	int i;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--once") == 0) {
			options->single = true;
			continue;
		}
		value = password_option(options, &pid, argv[i]);
		if (value == NULL)
			return password_usage_error("unknown option ", argv[i]);
		if (i + 1 == argc || argv[i + 1][0] == '\0')
			return password_usage_error(
			    "missing value of ", argv[i]);
		*value = argv[++i];
	}
	if (options->file == NULL)
		return password_usage_error("missing option --file", "");
	if (pid != NULL &&
	    str_to_i64(str_of(pid), 1, INT32_MAX, &options->reload.pid) !=
		RC_OK)
		return password_usage_error("not a process id: ", pid);
	if ((pid != NULL) + (options->reload.pid_file != NULL) +
		(options->reload.command != NULL) >
	    1)
		return password_usage_error(
		    "use only one of --pid, --pid-file, --reload-command", "");
	return 0;
}

static int
password_run(const struct svc_run *r)
{
	const struct bridge_conf *conf = r->conf;
	struct password_sync_options options = { .redis_url = conf->redis_url,
		.redis = &conf->redis };
	int code = password_parse_args(&options, r->argc, r->argv);

	return code != 0 ? code : password_sync_run(&options);
}

const struct svc_command password_command = {
	.name = "passwords",
	.usage = "--file FILE [--also FILE] [--once]\n"
		 "--file FILE [--also FILE] --pid N | --pid-file FILE | "
		 "--reload-command CMD",
	.summary = "keep mosquitto's password file in sync with the "
		   "terminals' identities",
	.help =
	    "  --file            the file that mosquitto reads; replaced "
	    "atomically, mode 0600\n"
	    "  --also            a file with the lines of services, which come "
	    "first\n"
	    "  --pid, --pid-file mosquitto, which gets SIGHUP after the file "
	    "changed\n"
	    "  --reload-command  for sh, instead of the signal\n"
	    "  --once            write the file, reload mosquitto, and exit\n"
	    "\n"
	    "Polls Redis once a second and writes all identities that have a "
	    "password and are\n"
	    "not revoked.  mosquitto then ends the sessions whose password "
	    "was changed or\n"
	    "removed.  As it checks every session for that, it is reloaded at "
	    "most once a\n"
	    "second, and at most once per millisecond for each line of the "
	    "file.\n"
	    "The file stays unchanged while Redis cannot be reached, and if "
	    "Redis has never had\n"
	    "an identity but the file contains some.\n\n"
	    "Only REDIS_URL, SENTINEL_USERNAME and SENTINEL_PASSWORD of the "
	    "configuration are used.\n\n"
	    "Exit codes: 0 done or stopped by a signal, 1 failed, or a signal "
	    "came too early\n"
	    "(--once), 64 wrong arguments, 78 wrong configuration.\n",
	.fn = password_run,
};
