/*
 * A signal to a process of which only the number is known is looked at twice:
 * before the broker has said that it wants to hear it, SIGHUP would end it.
 */
#include "reload.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/mem.h"
#include "core/str.h"
#include "passwd_file.h"

#define STATUS_BYTES 16384
#define PID_BYTES    64

extern char **environ;

/* The mask of signals that the process catches; 0: there is no such process. */
static uint64_t
caught_by(int64_t pid)
{
	struct buf b = BUF_INIT(STATUS_BYTES);
	struct str rest, line;
	uint64_t mask = 0;
	const char *why;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%" PRId64 "/status", pid);
	if (passwd_file_read(path, &b, &why) == RC_OK) {
		rest = buf_str(&b);
		while (rest.p != NULL) {
			line = str_split(&rest, '\n');
			if (str_starts(line, STR("SigCgt:")))
				mask = strtoull(line.p + 7, NULL, 16);
		}
	}
	buf_free(&b);
	return mask;
}

static enum rc
hang_up(int64_t pid, const char **why)
{
	*why = "it does not run, or does not read its files again yet";
	if ((caught_by(pid) & (UINT64_C(1) << (SIGHUP - 1))) == 0)
		return RC_RETRY;
	if (kill((pid_t)pid, SIGHUP) == 0)
		return RC_OK;
	*why = strerrordesc_np(errno);
	return RC_RETRY;
}

static enum rc
read_pid(const char *path, int64_t *pid, const char **why)
{
	struct buf b = BUF_INIT(PID_BYTES);
	enum rc rc = passwd_file_read(path, &b, why);

	if (rc == RC_OK &&
	    str_to_i64(str_trim(buf_str(&b)), 1, INT32_MAX, pid) != RC_OK) {
		*why = "there is no number in it";
		rc = RC_INVALID;
	}
	buf_free(&b);
	return rc == RC_OK ? RC_OK : RC_RETRY;
}

static enum rc
begin(const char *command, const char **why)
{
	char *argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, NULL, NULL };
	pid_t pid;
	int err;

	/* Those that have ended. */
	while (waitpid(-1, NULL, WNOHANG) > 0)
		continue;
	argv[2] = mem_strdup(command);
	err = posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ);
	free(argv[2]);
	if (err == 0)
		return RC_OK;
	*why = strerrordesc_np(err);
	return RC_RETRY;
}

enum rc
reload_broker(const struct reload *r, const char **why)
{
	int64_t pid = r->pid;

	*why = "";
	if (r->command != NULL)
		return begin(r->command, why);
	if (r->pid_file != NULL && read_pid(r->pid_file, &pid, why) != RC_OK)
		return RC_RETRY;
	return pid == 0 ? RC_OK : hang_up(pid, why);
}
